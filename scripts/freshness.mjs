import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** True when `output` exists and none of the inputs (files, or folders with all that is in them) is newer. */
export function isFresh(output, inputs) {
  const made = newest(output);
  return made > 0 && inputs.every((input) => newest(input) <= made);
}

/** The newest time of change at or under a path, in milliseconds since the epoch; 0 when there is nothing. */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = readdirSync(path).map((name) => newest(join(path, name)));
  return Math.max(stats.mtimeMs, ...inside);
}
