import { readFileSync } from "node:fs";

/** The middle of some numbers; NaN of none. */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** What a file says; empty when it is gone, as those of processes that have ended are. */
export function readIfExists(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
