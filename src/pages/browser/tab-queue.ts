import { ClientHarm } from "./client-harm.ts";
import { overloaded } from "./failures.ts";

interface Waiting {
  readonly client: string;
  readonly enter: () => void;
  readonly refuse: (reason: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Says that a tab is in use until something has settled. */
export type Keep = (until: Promise<unknown>) => void;

/** How the tabs are shared. */
export interface QueueLimits {
  /** Pages open at one moment. */
  readonly tabs: number;
  /** Requests that may wait. */
  readonly queue: number;
  /** How long one may wait, milliseconds. */
  readonly queueMs: number;
}

/**
 * Lets a bounded number of pages be open at one moment; the others wait. No client can take all tabs or all places in the queue: one tab is left
 * for others, tabs that come free go round the clients that wait, and a queue that is full makes room for those who have less in it.
 */
export class TabQueue {
  readonly #limits: QueueLimits;
  /** The clients that wait, each with its requests in order; the client whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Tabs in use, by client. */
  readonly #inUse = new Map<string, number>();
  readonly #harm = new ClientHarm();
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

  /** The most tabs that were ever in use at one moment. */
  get mostOpen(): number {
    return this.#mostOpen;
  }

  /**
   * Does work that needs a tab, when there is one. What comes of the work is told at once; the place is taken for as long as what the work has said
   * to `keep` is not settled.
   *
   * @param client on whose account the tab goes
   * @throws GatewayError 503 `overloaded` when the queue is full or the wait too long
   */
  async run<T>(client: string, work: (keep: Keep) => Promise<T>): Promise<T> {
    if (this.#mayEnter(client)) this.#take(client);
    else await this.#wait(client);
    const kept: Promise<unknown>[] = [];
    try {
      return await work((until) => kept.push(until));
    } finally {
      if (kept.length === 0) this.#leave(client);
      else void Promise.allSettled(kept).then(() => this.#leave(client));
    }
  }

  /** A client's page held its tab up until it was ended, or took more of the machine than a page may: for a while each halves the client's share. */
  penalise(client: string): void {
    this.#harm.add(client);
  }

  /** Whether a client's pages did harm lately. */
  isPenalised(client: string): boolean {
    return this.#harm.isHeld(client);
  }

  /** Whether others than the client have tabs, wait for them, or had them a moment ago. */
  hasOthers(client: string): boolean {
    return (
      [this.#inUse, this.#waiting].some((of) => of.size > (of.has(client) ? 1 : 0)) ||
      this.#harm.hasOthers(client)
    );
  }

  #mayEnter(client: string): boolean {
    return this.#open < this.#limits.tabs && (this.#inUse.get(client) ?? 0) < this.#share(client);
  }

  /** How many tabs a client may have at one moment. */
  #share(client: string): number {
    return this.#harm.shareOf(client, this.#limits.tabs - 1);
  }

  #wait(client: string): Promise<void> {
    if (this.#length >= this.#limits.queue) this.#makeRoomFor(client);
    return new Promise<void>((enter, refuse) => {
      const timer = setTimeout(() => {
        this.#remove(waiting);
        refuse(overloaded());
      }, this.#limits.queueMs);
      const waiting: Waiting = { client, enter, refuse, timer };
      const line = this.#waiting.get(client);
      if (line === undefined) this.#waiting.set(client, [waiting]);
      else line.push(waiting);
      this.#length++;
    });
  }

  /** Sends the last one of the longest line away, if that has more than the newcomer's would have. Throws when it has not. */
  #makeRoomFor(client: string): void {
    let longest: readonly Waiting[] = [];
    for (const line of this.#waiting.values()) if (line.length > longest.length) longest = line;
    const last = longest.at(-1);
    if (last === undefined || longest.length <= (this.#waiting.get(client)?.length ?? 0) + 1) {
      throw overloaded();
    }
    this.#remove(last);
    last.refuse(overloaded());
  }

  #remove(waiting: Waiting): void {
    const line = this.#waiting.get(waiting.client) ?? [];
    const place = line.indexOf(waiting);
    if (place === -1) return;
    clearTimeout(waiting.timer);
    line.splice(place, 1);
    this.#length--;
    if (line.length === 0) this.#waiting.delete(waiting.client);
  }

  #take(client: string): void {
    this.#open++;
    this.#mostOpen = Math.max(this.#mostOpen, this.#open);
    this.#inUse.set(client, (this.#inUse.get(client) ?? 0) + 1);
  }

  #leave(client: string): void {
    this.#harm.sees(client);
    this.#open--;
    const left = (this.#inUse.get(client) ?? 1) - 1;
    if (left === 0) this.#inUse.delete(client);
    else this.#inUse.set(client, left);
    this.#admit();
  }

  /** Lets those in for whom there is a tab now, before anybody else can come. */
  #admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { client } = next;
      this.#remove(next);
      // The client's other requests wait until all others had their turn.
      const line = this.#waiting.get(client);
      if (line !== undefined) {
        this.#waiting.delete(client);
        this.#waiting.set(client, line);
      }
      this.#take(client);
      next.enter();
    }
  }

  #next(): Waiting | undefined {
    for (const [client, line] of this.#waiting) if (this.#mayEnter(client)) return line[0];
    return undefined;
  }
}
