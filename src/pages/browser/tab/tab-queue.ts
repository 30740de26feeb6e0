import { onAbort } from "../../../core/http/abort-signals.ts";
import { clientDisconnected } from "../../../core/http/client-disconnect.ts";
import { overloaded } from "../failures.ts";
import { AbuseScore } from "./abuse-score.ts";

interface QueuedRequest {
  readonly client: string;
  readonly enter: () => void;
  readonly refuse: (reason: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Marks a tab as in use until a promise settles. */
export type HoldTab = (promise: Promise<unknown>) => void;

/** How to share the tabs. */
export interface QueueLimits {
  /** Maximum open pages. */
  readonly tabs: number;
  /** Maximum waiting requests. */
  readonly queue: number;
  /** Maximum wait, milliseconds. */
  readonly queueMs: number;
}

/**
 * Limits the number of open pages; further requests wait. No client can take all tabs or the whole queue: one tab is
 * reserved for other clients, free tabs go to the waiting clients in turn, and a full queue evicts a request of the
 * client that has the most in it.
 */
export class TabQueue {
  readonly #limits: QueueLimits;
  /** Waiting requests by client, in order; the client whose turn is next comes first. */
  readonly #waiting = new Map<string, QueuedRequest[]>();
  /** Tabs in use, by client. */
  readonly #inUse = new Map<string, number>();
  readonly #abuse = new AbuseScore();
  #length = 0;
  #open = 0;
  #mostOpen = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Tabs in use. */
  get open(): number {
    return this.#open;
  }

  /** The maximum number of tabs in use at once so far. */
  get mostOpen(): number {
    return this.#mostOpen;
  }

  /**
   * Runs work that needs a tab, as soon as there is one. Returns the result when the work ends, but the tab stays in use
   * until all promises passed to `holdTab` have settled.
   *
   * @param client the client whose tab limit applies
   * @param signal aborts when no client waits for the result any more: then work that has no tab yet leaves the queue
   * @throws GatewayError 503 `overloaded` if the queue is full or the wait too long, 499 if it has left the queue
   */
  async runInTab<T>(
    client: string,
    work: (holdTab: HoldTab) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (signal?.aborted === true) throw clientDisconnected();
    if (this.#canEnter(client)) this.#occupyTab(client);
    else await this.#enqueue(client, signal);
    const held: Promise<unknown>[] = [];
    try {
      return await work((promise) => held.push(promise));
    } finally {
      if (held.length === 0) this.#releaseTab(client);
      else void Promise.allSettled(held).then(() => this.#releaseTab(client));
    }
  }

  /**
   * Records a harmful page of a client: it blocked its tab until it was ended, or exceeded its resource limits. Each
   * halves the client's share for a time.
   */
  penalize(client: string): void {
    this.#abuse.recordHarm(client);
  }

  /** Whether a client had harmful pages recently. */
  isPenalized(client: string): boolean {
    return this.#abuse.isPenalized(client);
  }

  /** Whether other clients have tabs, wait for them, or had one a moment ago. */
  hasOtherClients(client: string): boolean {
    return (
      [this.#inUse, this.#waiting].some((clients) => clients.size > (clients.has(client) ? 1 : 0)) ||
      this.#abuse.hasOtherActiveClients(client)
    );
  }

  #canEnter(client: string): boolean {
    return this.#open < this.#limits.tabs && (this.#inUse.get(client) ?? 0) < this.#getTabShare(client);
  }

  /** Maximum tabs of a client. */
  #getTabShare(client: string): number {
    return this.#abuse.getTabShare(client, this.#limits.tabs - 1);
  }

  async #enqueue(client: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#length >= this.#limits.queue) this.#evictFor(client);
    let stopListening = () => {};
    const entered = new Promise<void>((enter, refuse) => {
      const leave = (reason: Error) => {
        this.#remove(waiting);
        refuse(reason);
      };
      const timer = setTimeout(() => leave(overloaded()), this.#limits.queueMs);
      if (signal !== undefined) stopListening = onAbort(signal, () => leave(clientDisconnected()));
      const waiting: QueuedRequest = { client, enter, refuse, timer };
      const requests = this.#waiting.get(client);
      if (requests === undefined) this.#waiting.set(client, [waiting]);
      else requests.push(waiting);
      this.#length++;
    });
    await entered.finally(() => stopListening());
  }

  /**
   * Evicts the last request of the client with the most waiting requests, if that client has more than the new
   * request's client would have. Otherwise throws.
   */
  #evictFor(client: string): void {
    let longest: readonly QueuedRequest[] = [];
    for (const requests of this.#waiting.values()) if (requests.length > longest.length) longest = requests;
    const last = longest.at(-1);
    if (last === undefined || longest.length <= (this.#waiting.get(client)?.length ?? 0) + 1) {
      throw overloaded();
    }
    this.#remove(last);
    last.refuse(overloaded());
  }

  #remove(waiting: QueuedRequest): void {
    const requests = this.#waiting.get(waiting.client) ?? [];
    const index = requests.indexOf(waiting);
    if (index === -1) return;
    clearTimeout(waiting.timer);
    requests.splice(index, 1);
    this.#length--;
    if (requests.length === 0) this.#waiting.delete(waiting.client);
  }

  #occupyTab(client: string): void {
    this.#open++;
    this.#mostOpen = Math.max(this.#mostOpen, this.#open);
    this.#inUse.set(client, (this.#inUse.get(client) ?? 0) + 1);
  }

  #releaseTab(client: string): void {
    this.#abuse.recordActivity(client);
    this.#open--;
    const remaining = (this.#inUse.get(client) ?? 1) - 1;
    if (remaining === 0) this.#inUse.delete(client);
    else this.#inUse.set(client, remaining);
    this.#admitWaiting();
  }

  /** Admits waiting requests to free tabs, before any new request can take them. */
  #admitWaiting(): void {
    for (let next = this.#nextAdmissible(); next !== undefined; next = this.#nextAdmissible()) {
      const { client } = next;
      this.#remove(next);
      // The client's other requests wait until all other clients had their turn.
      const requests = this.#waiting.get(client);
      if (requests !== undefined) {
        this.#waiting.delete(client);
        this.#waiting.set(client, requests);
      }
      this.#occupyTab(client);
      next.enter();
    }
  }

  #nextAdmissible(): QueuedRequest | undefined {
    for (const [client, requests] of this.#waiting) if (this.#canEnter(client)) return requests[0];
    return undefined;
  }
}
