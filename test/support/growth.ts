import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Prepares an input of size `n` and returns the work to measure. */
export type Work = (n: number) => () => unknown;

/** Minimum CPU time in milliseconds for a meaningful measurement. */
const FLOOR_MS = 2;
/** Inputs are at most four times this size. */
const MAX_SIZE = 1 << 20;
const FACTOR = 4;
/** Repetitions per round. A bad ratio must repeat at doubling sizes; most ratios are good at once. */
const ROUNDS = [1, 2, 3, 8];
/** Linear work never takes this long at these sizes, so a bad ratio needs no repetition. */
const CERTAIN_MS = 250;
/** Maximum growth factor for four times the input: linear is 4, quadratic is 16. */
export const MAX_GROWTH = 6;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/**
 * CPU time of this process in milliseconds, unaffected by other processes. (Per-thread time only has a resolution of 4 ms.)
 */
async function cpuOf(work: Work, n: number, clean: boolean): Promise<number> {
  const run = work(n);
  if (clean) collectGarbage();
  const start = process.cpuUsage();
  const result = run();
  if (result instanceof Promise) await result;
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/**
 * Returns how many times more CPU time four times the input takes. The ratio does not depend on the speed of the machine.
 * Sizes grow until the work is measurable. A good ratio is accepted at once; a bad one must repeat at larger sizes, with
 * minimum times and after garbage collection. Work that stays too fast to measure counts as harmless.
 *
 * @param maxSize inputs are at most four times this size: smaller for objects than for characters
 */
export async function growthOf(work: Work, maxSize = MAX_SIZE): Promise<number> {
  let n = 256;
  for (let took = await cpuOf(work, n, false); took < FLOOR_MS && n < maxSize; ) {
    n = Math.min(maxSize, n * (took < FLOOR_MS / 8 ? 8 : 2));
    took = await cpuOf(work, n, false);
  }
  let growth = Number.POSITIVE_INFINITY;
  for (const [step, rounds] of ROUNDS.entries()) {
    // The JIT may have optimized the code meanwhile, and a threshold (such as a garbage collection) may lie between two
    // sizes.
    if (step > 0) n *= 2;
    let short = Number.POSITIVE_INFINITY;
    let long = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      short = Math.min(short, await cpuOf(work, n, step > 1));
      long = Math.min(long, await cpuOf(work, n * FACTOR, step > 1));
      growth = long / Math.max(short, FLOOR_MS / MAX_GROWTH);
      if (growth <= MAX_GROWTH || (round > 0 && long > CERTAIN_MS)) return growth;
    }
  }
  return growth;
}
