/** The result of one account in a test of all accounts. */
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

/** Progress of a test of all accounts. Times are Unix milliseconds; `finished_at` is 0 while the test runs. */
export interface TestAllProgress {
  readonly total: number;
  /** Number of accounts tested so far, in list order. A cancelled run ends before `total`. */
  readonly done: number;
  readonly success: number;
  readonly failed: number;
  readonly started_at: number;
  readonly updated_at: number;
  readonly finished_at: number;
  /** Failed results so far, newest last, bounded. */
  readonly failures: readonly AccountTestResult[];
  /** True if the test covers only some of the accounts. */
  readonly some?: boolean;
}

/** The result of the latest scheduled model-list request to a provider. */
export interface ModelSyncResult {
  /** Time of the request, Unix milliseconds. */
  readonly at: number;
  /** Why the request failed; empty on success. */
  readonly error: string;
  /** Number of new models. */
  readonly added: number;
}

/** State that all isolates share for administrators' requests. */
export interface AdministrationState {
  /**
   * Asks whether a client (address or network) may attempt to sign in; the first `free` attempts in a row have no
   * delay. The attempt counts as failed until `recordLoginSuccess` is called.
   */
  recordLoginAttempt(client: string, free: number): Promise<LoginDecision>;
  recordLoginSuccess(client: string): Promise<void>;
  /** The latest test of all accounts; null if none has run. */
  getTestProgress(): Promise<TestAllProgress | null>;
  /** Saves the progress. Returns true if the run was cancelled. */
  setTestProgress(progress: TestAllProgress): Promise<boolean>;
  /** Cancels the run of the latest progress. */
  cancelTest(): Promise<void>;
  /** Results of the scheduled model-list requests, by provider id. */
  getModelSyncResults(): Promise<Readonly<Record<string, ModelSyncResult>>>;
  setModelSyncResults(results: Readonly<Record<string, ModelSyncResult>>): Promise<void>;
  /**
   * Ends an administrator's token, for good.
   *
   * @param id its public id (`jti`)
   * @param until when it expires, Unix milliseconds
   */
  revokeToken(id: string, until: number): Promise<void>;
  isTokenRevoked(id: string): Promise<boolean>;
}

/** Whether a sign-in attempt may proceed; if not, the wait in whole seconds. */
export type LoginDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly waitSeconds: number };
