import { readFileSync } from "node:fs";

/** The middle of some numbers; NaN of none. */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const RESAMPLES = 1_000;

/**
 * A figure of rounds, and the interval in which it is for 95 of 100 samples of them (bootstrap).
 *
 * @param {number} count how many rounds there were
 * @param {(rounds: readonly number[]) => number} figure that of some rounds, by number; one may come several times
 */
export function spread(count, figure) {
  const all = Array.from({ length: count }, (_, round) => round);
  const resampled = Array.from({ length: RESAMPLES }, () =>
    figure(all.map(() => Math.floor(Math.random() * count))),
  ).toSorted((one, other) => one - other);
  const [low, high] = [0.025, 0.975].map((share) => resampled[Math.floor(RESAMPLES * share)]);
  return { value: figure(all), low, high };
}

/** What a file says; empty when it is gone, as those of processes that have ended are. */
export function readIfExists(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
