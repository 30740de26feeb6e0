import { type LoginDecision, LoginGuard } from "../auth/login-guard.ts";

/** One account's outcome in a test of all accounts. */
export interface AccountTestResult {
  /** The account's identifier. */
  readonly account: string;
  readonly success: boolean;
  /** Milliseconds. */
  readonly response_time: number;
  readonly message: string;
  readonly model: string;
  readonly session_count: number;
}

/** How far a test of all accounts has come. Times are Unix milliseconds, `finished_at` 0 while it runs. */
export interface TestAllProgress {
  readonly total: number;
  readonly done: number;
  readonly success: number;
  readonly failed: number;
  readonly started_at: number;
  readonly updated_at: number;
  readonly finished_at: number;
  /** The outcomes so far that failed, newest last, bounded. */
  readonly failures: readonly AccountTestResult[];
}

/** What administrators' requests share, whichever isolate answers them. */
export interface AdministrationState {
  /** Asks for an attempt to sign in from an address; it counts as failed until `loginSucceeded`. */
  loginAttempt(client: string): Promise<LoginDecision>;
  loginSucceeded(client: string): Promise<void>;
  /** The latest test of all accounts; null: there was none yet. */
  testProgress(): Promise<TestAllProgress | null>;
  setTestProgress(progress: TestAllProgress): Promise<void>;
}

const MAX_CLIENTS = 10_000;

/** {@link AdministrationState} for a program that runs in one process; `now` tells milliseconds since the epoch. */
export function administrationInProcess(now: () => number): AdministrationState {
  const guards = new Map<string, LoginGuard>();
  let progress: TestAllProgress | null = null;
  return {
    loginAttempt: async (client) => {
      const guard = guards.get(client) ?? new LoginGuard();
      // The address that was seen least recently is forgotten first.
      guards.delete(client);
      guards.set(client, guard);
      for (const oldest of guards.keys()) {
        if (guards.size <= MAX_CLIENTS) break;
        guards.delete(oldest);
      }
      return guard.attempt(now());
    },
    loginSucceeded: async (client) => {
      guards.delete(client);
    },
    testProgress: async () => progress,
    setTestProgress: async (next) => {
      progress = next;
    },
  };
}
