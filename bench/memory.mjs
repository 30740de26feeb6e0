// What the processes of a gateway and its browser hold.
import { descendants } from "../test/support/processes.ts";
import { readIfExists } from "./figures.mjs";

/** Kinds of processes by their command line, in the order in which they are looked for. */
const KINDS = [
  ["workerd", /\bworkerd\b/],
  ["renderers", /--type=renderer/],
  ["graphics", /--type=gpu-process/],
  ["network", /--type=utility.*network/],
  ["others", /--type=/],
  ["browser", /--remote-debugging-port/],
];

/** Memory by kind of process in MB, and of all that are the browser's; what several share is divided between them (PSS). */
export function memoryByKind() {
  const sums = {};
  for (const { pid, command } of descendants()) {
    const kind = KINDS.find(([, pattern]) => pattern.test(command))?.[0];
    const pss = /^Pss:\s+(\d+)/m.exec(readIfExists(`/proc/${pid}/smaps_rollup`))?.[1];
    if (kind !== undefined && pss !== undefined) sums[kind] = (sums[kind] ?? 0) + Number(pss) / 1024;
  }
  const { workerd = 0, ...own } = sums;
  return {
    ...sums,
    "browser in all": Object.values(own).reduce((sum, megabytes) => sum + megabytes, 0),
    workerd,
  };
}
