import type { AccountSession } from "../accounts/account-request.ts";

/** The attempt with one account. */
export class AccountAttempt {
  readonly session: AccountSession;
  /** Aborted when the generation is aborted, or when the provider times out. A timeout ends only this attempt. */
  readonly controller = new AbortController();
  /** The provider's chat session of the current turn. */
  chatSessionId = "";
  /** The provider's chat sessions that it has created. A turn that is opened again with a fresh token has two. */
  readonly chatSessions: Promise<string>[] = [];
  /** How long it took until its first content, milliseconds. Null: none came, or not as a stream. */
  firstContentMs: number | null = null;
  readonly #now: () => number;
  readonly #startedAt: number;
  #isAnswering = false;

  constructor(session: AccountSession, now: () => number) {
    this.session = session;
    this.#now = now;
    this.#startedAt = now();
  }

  /** Content has arrived. `isWhole`: the answer came in one piece. */
  reportContent(isWhole: boolean): void {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    this.session.reportAnswering();
    if (!isWhole) this.firstContentMs = this.#now() - this.#startedAt;
  }
}
