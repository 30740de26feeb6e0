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
  /** In their order, all accounts before this place are done; a run that was cancelled ends before `total`. */
  readonly done: number;
  readonly success: number;
  readonly failed: number;
  readonly started_at: number;
  readonly updated_at: number;
  readonly finished_at: number;
  /** The outcomes so far that failed, newest last, bounded. */
  readonly failures: readonly AccountTestResult[];
  /** Only some accounts were to be tested. */
  readonly some?: boolean;
}

/** What came of asking a provider for its models. */
export interface ModelAsk {
  /** When it was asked last, Unix milliseconds. */
  readonly at: number;
  /** Why it did not tell them; empty: it did. */
  readonly error: string;
  /** How many were new. */
  readonly added: number;
}

/** What administrators' requests share, whichever isolate answers them. */
export interface AdministrationState {
  /**
   * Asks for an attempt to sign in from an address or network, of which `free` in a row cost nothing; it counts as failed until
   * `loginSucceeded`.
   */
  loginAttempt(client: string, free: number): Promise<LoginDecision>;
  loginSucceeded(client: string): Promise<void>;
  /** The latest test of all accounts; null: there was none yet. */
  testProgress(): Promise<TestAllProgress | null>;
  /** True when this run was cancelled. */
  setTestProgress(progress: TestAllProgress): Promise<boolean>;
  /** Ends the run that the latest progress is of. */
  cancelTest(): Promise<void>;
  /** What came of asking providers for their models by schedule, by their ids. */
  modelAsks(): Promise<Readonly<Record<string, ModelAsk>>>;
  setModelAsks(asks: Readonly<Record<string, ModelAsk>>): Promise<void>;
}

/** Whether an attempt may be made; if not, in how many whole seconds. */
export type LoginDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly waitSeconds: number };
