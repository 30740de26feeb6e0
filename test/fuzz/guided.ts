import { Session } from "node:inspector/promises";
import fc from "fast-check";
import { near, type Target } from "../unit/fuzz/target.ts";
import type { Failure } from "../unit/gateway/tools/properties.ts";

/** Inputs that are tried between two looks at the coverage: a look costs as much as many inputs. */
const BATCH = 100;
/** So many found inputs does a target go on from; the oldest go first. */
const MAX_FOUND = 400;

/** A block of the program: where it begins and ends in its file. */
interface Block {
  readonly url: string;
  readonly start: number;
  readonly end: number;
}

/** How often each block of `src/` ran since the last call. V8 omits a block that ran as often as the block around it. */
class Counts {
  readonly #ranges = new Map<string, { startOffset: number; endOffset: number; count: number }[]>();

  static async take(session: Session): Promise<Counts> {
    const made = new Counts();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    for (const { url, functions } of result) {
      if (!url.includes("/src/")) continue;
      made.#ranges.set(
        url,
        functions.flatMap(({ ranges }) => ranges),
      );
    }
    return made;
  }

  /** The reported blocks that ran, by name. */
  *reached(): Generator<readonly [name: string, block: Block]> {
    for (const [url, ranges] of this.#ranges) {
      for (const { startOffset: start, endOffset: end, count } of ranges) {
        if (count > 0) yield [`${url} ${start} ${end}`, { url, start, end }];
      }
    }
  }

  /** Whether a block ran: whether the smallest reported block around it did. */
  has({ url, start, end }: Block): boolean {
    let size = Number.POSITIVE_INFINITY;
    let ran = false;
    for (const { startOffset, endOffset, count } of this.#ranges.get(url) ?? []) {
      if (startOffset > start || endOffset < end || endOffset - startOffset >= size) continue;
      size = endOffset - startOffset;
      ran = count > 0;
    }
    return ran;
  }
}

let counting: Promise<Session> | undefined;

async function startCounting(): Promise<Session> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return session;
}

/** A target whose inputs are made from its corpus and from the inputs that reached new blocks: coverage guides them. */
export class GuidedTarget {
  readonly #target: Target;
  readonly #known = new Set<string>();
  readonly #found: string[] = [];

  constructor(target: Target) {
    this.#target = target;
  }

  /** How many inputs reached something new so far. */
  get found(): number {
    return this.#found.length;
  }

  /** Tries `runs` inputs. Resolves to one that fails; it is not shrunk. */
  async check(seed: number, runs: number): Promise<Failure | undefined> {
    counting ??= startCounting();
    const session = await counting;
    await Counts.take(session);
    for (let at = 0; at < runs; at += BATCH) {
      const arbitrary = near([...this.#target.corpus, ...this.#found]);
      const inputs = fc.sample(arbitrary, { seed: seed + at, numRuns: BATCH });
      for (const input of inputs) {
        const failure = await this.#failureOf(input, seed);
        if (failure !== undefined) return failure;
      }
      await this.#keep(inputs, session);
    }
    return undefined;
  }

  /** Keeps those of the inputs that have reached something new: they are tried again, one by one. */
  async #keep(inputs: readonly string[], session: Session): Promise<void> {
    const left = new Map<string, Block>();
    for (const [name, block] of (await Counts.take(session)).reached()) {
      if (!this.#known.has(name)) left.set(name, block);
      this.#known.add(name);
    }
    for (const input of inputs) {
      if (left.size === 0) return;
      await this.#failureOf(input, 0);
      const counts = await Counts.take(session);
      const own = [...left].filter(([, block]) => counts.has(block));
      for (const [name] of own) left.delete(name);
      if (own.length > 0) this.#found.push(input);
      if (this.#found.length > MAX_FOUND) this.#found.shift();
    }
  }

  async #failureOf(value: string, seed: number): Promise<Failure | undefined> {
    try {
      await this.#target.repeat(value);
      return undefined;
    } catch (error) {
      return { seed, reason: error instanceof Error ? (error.stack ?? error.message) : String(error), value };
    }
  }
}
