import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often it is looked, and what is still no standstill, milliseconds. */
const LOOK_MS = 20;
const USUAL_MS = 50;

/**
 * The machine's own standstill while something is measured: times in which a timer went off late, or the disk did not take a byte.
 * Whoever has to be quick may subtract them, and should tell them.
 */
export class Standstill {
  readonly #spans: [from: number, to: number][] = [];
  readonly #folder: string;
  #over = false;
  #ended: Promise<unknown>;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#ended = Promise.all([this.#timers(), this.#flushes()]);
  }

  /** Begins to look. */
  static async watch(): Promise<Standstill> {
    return new Standstill(await mkdtemp(join(tmpdir(), "polygate-standstill-")));
  }

  async #timers(): Promise<void> {
    while (!this.#over) {
      const from = performance.now();
      await sleep(LOOK_MS);
      this.#add(from + LOOK_MS);
    }
  }

  /** The pool's storage answers once its bytes are on the disk. */
  async #flushes(): Promise<void> {
    const file = await open(join(this.#folder, "byte"), "w");
    while (!this.#over) {
      const from = performance.now();
      await file.write("x", 0);
      await file.datasync();
      this.#add(from);
      await sleep(LOOK_MS);
    }
    await file.close();
  }

  #add(from: number): void {
    const to = performance.now();
    if (to - from > USUAL_MS) this.#spans.push([from, to]);
  }

  /** Milliseconds since `since` (`performance.now()`) in which the machine stood still; both ways at once count once. */
  since(since: number): number {
    const spans = this.#spans
      .map(([from, to]): [number, number] => [Math.max(from, since), to])
      .sort(([one], [other]) => one - other);
    let sum = 0;
    let counted = since;
    for (const [from, to] of spans) {
      sum += Math.max(0, to - Math.max(from, counted));
      counted = Math.max(counted, to);
    }
    return sum;
  }

  async end(): Promise<void> {
    this.#over = true;
    await this.#ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
