import { sleep } from "../../../core/ports/clock.ts";
import type { FrameEvents } from "./main-frame.ts";

/** Requests that a page may keep open for ever, or that do not change it. */
const IGNORED_TYPES: ReadonlySet<string> = new Set([
  ...["EventSource", "Media", "Ping", "Prefetch", "WebSocket", "CSPViolationReport"],
]);

/** Interval of checks whether the network is idle, milliseconds. */
const POLL_MS = 50;

/** The open requests of one session, by their ids. */
interface OpenRequests {
  /** Requests whose response has not ended. */
  readonly inFlight: Set<string>;
  /** Requests whose response has not begun. */
  readonly unanswered: Set<string>;
}

/** Tracks the requests of one page, its frames and its workers. */
export class NetworkActivity {
  readonly #now: () => number;
  readonly #requests = new Map<FrameEvents, OpenRequests>();
  #changedAt: number | null = null;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Whether no request is in flight, and the last one ended at least `ms` milliseconds ago. */
  isQuietFor(ms: number): boolean {
    if ([...this.#requests.values()].some(({ inFlight }) => inFlight.size > 0)) return false;
    return this.#changedAt === null || this.#now() - this.#changedAt >= ms;
  }

  /** Whether a request is in flight. */
  get isBusy(): boolean {
    return !this.isQuietFor(0);
  }

  /**
   * Waits until for `ms` milliseconds no request began, was answered or ended, and at most `maxUnanswered` have no
   * response yet. Returns false after `timeoutMs` milliseconds, or when the signal is aborted.
   */
  async waitUntilIdle(
    maxUnanswered: number,
    ms: number,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const start = this.#now();
    while (!signal.aborted) {
      const now = this.#now();
      const idleMs = now - Math.max(start, this.#changedAt ?? start);
      if (idleMs >= ms && this.#unansweredCount <= maxUnanswered) return true;
      const remainingMs = start + timeoutMs - now;
      if (remainingMs <= 0) return false;
      await sleep(Math.min(remainingMs, Math.max(POLL_MS, ms - idleMs)));
    }
    return false;
  }

  /** Counts the requests of a session from now on. */
  add(session: FrameEvents): void {
    const inFlight = new Set<string>();
    const unanswered = new Set<string>();
    this.#requests.set(session, { inFlight, unanswered });
    const end = ({ requestId }: { readonly requestId: string }) => {
      unanswered.delete(requestId);
      if (inFlight.delete(requestId)) this.#changedAt = this.#now();
    };
    session.on("Network.requestWillBeSent", ({ requestId, type = "Other", request }) => {
      if (IGNORED_TYPES.has(type) || !/^https?:/.test(request.url)) return;
      inFlight.add(requestId);
      unanswered.add(requestId);
      this.#changedAt = this.#now();
    });
    session.on("Network.responseReceived", ({ requestId }) => {
      if (unanswered.delete(requestId)) this.#changedAt = this.#now();
    });
    session.on("Network.loadingFinished", end);
    session.on("Network.loadingFailed", end);
  }

  /** Forgets the requests of a session that has ended. */
  remove(session: FrameEvents): void {
    this.#requests.delete(session);
  }

  get #unansweredCount(): number {
    return [...this.#requests.values()].reduce((sum, { unanswered }) => sum + unanswered.size, 0);
  }
}
