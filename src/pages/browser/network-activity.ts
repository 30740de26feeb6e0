import type { FrameEvents } from "./main-frame.ts";

/** Requests that a page may keep open for ever, or that do not change it. */
const IGNORED_TYPES: ReadonlySet<string> = new Set([
  ...["EventSource", "Media", "Ping", "Prefetch", "WebSocket", "CSPViolationReport"],
]);

/** Tracks the requests in flight of one page, its frames and its workers. */
export class NetworkActivity {
  readonly #now: () => number;
  readonly #inFlight = new Map<FrameEvents, Set<string>>();
  #changedAt: number | null = null;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Whether no request is in flight, and the last one ended at least `ms` milliseconds ago. */
  isQuietFor(ms: number): boolean {
    if ([...this.#inFlight.values()].some(({ size }) => size > 0)) return false;
    return this.#changedAt === null || this.#now() - this.#changedAt >= ms;
  }

  /** Whether a request is in flight. */
  get isBusy(): boolean {
    return !this.isQuietFor(0);
  }

  /** Counts the requests of a session from now on. */
  add(session: FrameEvents): void {
    const requests = new Set<string>();
    this.#inFlight.set(session, requests);
    const end = ({ requestId }: { readonly requestId: string }) => {
      if (requests.delete(requestId)) this.#changedAt = this.#now();
    };
    session.on("Network.requestWillBeSent", ({ requestId, type = "Other", request }) => {
      if (!IGNORED_TYPES.has(type) && /^https?:/.test(request.url)) requests.add(requestId);
    });
    session.on("Network.loadingFinished", end);
    session.on("Network.loadingFailed", end);
  }

  /** Forgets the requests of a session that has ended. */
  remove(session: FrameEvents): void {
    this.#inFlight.delete(session);
  }
}
