import { readFileSync } from "node:fs";

/** Median of some numbers; NaN for an empty list. */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const RESAMPLES = 1_000;

/**
 * Computes a figure over rounds and its 95 % bootstrap confidence interval.
 *
 * @param {number} count number of rounds
 * @param {(rounds: readonly number[]) => number} figure computes the figure of the given rounds, by number; a round may
 *   occur several times
 */
export function spread(count, figure) {
  const all = Array.from({ length: count }, (_, round) => round);
  const resampled = Array.from({ length: RESAMPLES }, () =>
    figure(all.map(() => Math.floor(Math.random() * count))),
  ).toSorted((one, other) => one - other);
  const [low, high] = [0.025, 0.975].map((share) => resampled[Math.floor(RESAMPLES * share)]);
  return { value: figure(all), low, high };
}

/** Reads a file; empty if it does not exist, for example because its process has ended. */
export function readIfExists(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
