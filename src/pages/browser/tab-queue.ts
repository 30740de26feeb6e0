import { overloaded } from "./failures.ts";

interface Waiting {
  readonly enter: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Lets a bounded number of pages be open at one moment; the others wait in a queue, first come, first served. */
export class TabQueue {
  readonly #limits: { readonly tabs: number; readonly queue: number; readonly queueMs: number };
  readonly #waiting: Waiting[] = [];
  #open = 0;
  #mostOpen = 0;

  /** `queue` is how many may wait, `queueMs` for how many milliseconds. */
  constructor(limits: { readonly tabs: number; readonly queue: number; readonly queueMs: number }) {
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
   * Does work that needs a tab, when there is one.
   *
   * @throws GatewayError 503 `overloaded` when the queue is full or the wait too long
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#open >= this.#limits.tabs) {
      if (this.#waiting.length >= this.#limits.queue) throw overloaded();
      // Whoever leaves hands its tab over, so that nobody slips in between.
      await new Promise<void>((enter, refuse) => {
        const timer = setTimeout(() => {
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
          refuse(overloaded());
        }, this.#limits.queueMs);
        const waiting: Waiting = { enter, timer };
        this.#waiting.push(waiting);
      });
      return;
    }
    this.#open++;
    this.#mostOpen = Math.max(this.#mostOpen, this.#open);
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#open--;
      return;
    }
    clearTimeout(next.timer);
    next.enter();
  }
}
