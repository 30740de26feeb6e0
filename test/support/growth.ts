import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Work on an input of size `n`, without what it takes to make the input. */
export type Work = (n: number) => () => unknown;

/** From so many milliseconds of processor time on a measurement means something. */
const FLOOR_MS = 2;
/** Inputs are not made larger than four times this. */
const MAX_SIZE = 1 << 20;
const FACTOR = 4;
/** A ratio that is bad is measured so often, at sizes that double, before it is believed: most are good at once. */
const ROUNDS = [1, 2, 3, 8];
/** What linear work never takes at these sizes: a bad ratio need not be shown again. */
const CERTAIN_MS = 250;
/** Four times the input may take so many times as long: linear is 4, the square is 16. */
export const MAX_GROWTH = 6;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/**
 * Milliseconds of this process's processor time, which others do not add to. (A thread's own is counted in ticks of 4 ms.)
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
 * How many times as much processor time four times the input takes. It says nothing of how fast the work is, so that it holds
 * on any machine: sizes grow until the work can be measured, and a ratio that is good is believed. A bad one has to show at ever
 * larger sizes, where minima are compared and there is no garbage of others. What cannot be measured even then is no harm.
 *
 * @param maxSize the input is not made larger than four times this: fewer for objects than for characters
 */
export async function growthOf(work: Work, maxSize = MAX_SIZE): Promise<number> {
  let n = 256;
  for (let took = await cpuOf(work, n, false); took < FLOOR_MS && n < maxSize; ) {
    n = Math.min(maxSize, n * (took < FLOOR_MS / 8 ? 8 : 2));
    took = await cpuOf(work, n, false);
  }
  let growth = Number.POSITIVE_INFINITY;
  for (const [step, rounds] of ROUNDS.entries()) {
    // The code has been made fast meanwhile, and a threshold, such as that of a garbage collection, may lie between two sizes.
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
