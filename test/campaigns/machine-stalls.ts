import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Interval of checks, and the longest normal delay, in milliseconds. */
const LOOK_MS = 20;
const USUAL_MS = 50;

type Span = readonly [from: number, to: number];

const isStall = ([from, to]: Span) => to - from > USUAL_MS;

/**
 * Detects stalls of the machine during a measurement: times in which a timer fired late, or the disk did not accept a
 * byte. Time-critical checks may subtract them and should report them.
 */
export class MachineStalls {
  readonly #spans: Span[] = [];
  /** Times at which the pending timer and disk write were due. */
  readonly #due = new Map<"timer" | "disk", number>();
  readonly #folder: string;
  #over = false;
  #ended: Promise<unknown>;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#ended = Promise.all([this.#timers(), this.#flushes()]);
  }

  /** Starts detection. */
  static async watch(): Promise<MachineStalls> {
    return new MachineStalls(await mkdtemp(join(tmpdir(), "polygate-stalls-")));
  }

  async #timers(): Promise<void> {
    while (!this.#over) {
      await this.#wait("timer", performance.now() + LOOK_MS, sleep(LOOK_MS));
    }
  }

  /** The pool's storage responds only when its bytes are on the disk, so time a disk write. */
  async #flushes(): Promise<void> {
    const file = await open(join(this.#folder, "byte"), "w");
    while (!this.#over) {
      const written = file.write("x", 0).then(() => file.datasync());
      await this.#wait("disk", performance.now(), written);
      await sleep(LOOK_MS);
    }
    await file.close();
  }

  async #wait(what: "timer" | "disk", due: number, over: Promise<unknown>): Promise<void> {
    this.#due.set(what, due);
    await over;
    this.#due.delete(what);
    const span: Span = [due, performance.now()];
    if (isStall(span)) this.#spans.push(span);
  }

  /**
   * Milliseconds for which the machine stalled since `since` (`performance.now()`). Includes a stall that still lasts, because a
   * waiting caller may resume before the detector does. Overlapping timer and disk delays count once.
   */
  since(since: number): number {
    const now = performance.now();
    const lasting = [...this.#due.values()].map((due): Span => [due, now]).filter(isStall);
    const spans = [...this.#spans, ...lasting]
      .map(([from, to]): Span => [Math.max(from, since), to])
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
