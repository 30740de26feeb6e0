import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Whether `output` exists and is not older than any input (files, or folders with all their content). */
export function isFresh(output, inputs) {
  const made = newest(output);
  return made > 0 && inputs.every((input) => newest(input) <= made);
}

/** Latest modification time at or below a path, in milliseconds since the epoch; 0 if nothing exists. */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = readdirSync(path).map((name) => newest(join(path, name)));
  return Math.max(stats.mtimeMs, ...inside);
}
