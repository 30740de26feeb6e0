import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Work on an input of size `n`, without what it takes to make the input. */
export type Work = (n: number) => () => unknown;

/** From so many milliseconds of processor time on a measurement means something. */
const FLOOR_MS = 5;
/** Inputs are not made larger than four times this. */
const MAX_SIZE = 1 << 20;
const FACTOR = 4;
/** What takes longer than in proportion is measured so often before it is believed. */
const ATTEMPTS = 10;
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
 * on any machine: sizes grow until the work can be measured, minima are compared, and a bad ratio has to show each time.
 *
 * @param maxSize the input is not made larger than four times this: fewer for objects than for characters
 */
export async function growthOf(work: Work, maxSize = MAX_SIZE): Promise<number> {
  let n = 128;
  while (n < maxSize && (await cpuOf(work, n, false)) < FLOOR_MS) n *= 2;
  let short = Number.POSITIVE_INFINITY;
  let long = Number.POSITIVE_INFINITY;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const clean = attempt > 5;
    // A threshold, such as that of a garbage collection, may lie between two sizes; the square is seen at all of them.
    if (attempt % 3 === 0) {
      n *= 2;
      short = long = Number.POSITIVE_INFINITY;
    }
    for (let round = 0; round < 2; round++) short = Math.min(short, await cpuOf(work, n, clean));
    long = Math.min(long, await cpuOf(work, n * FACTOR, clean));
    // What cannot be measured even then is no harm.
    if (long <= Math.max(short * MAX_GROWTH, FLOOR_MS)) break;
  }
  return long / Math.max(short, FLOOR_MS / MAX_GROWTH);
}
