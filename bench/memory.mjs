// Memory of the processes of a gateway and its browser.
import { descendants } from "../test/support/processes.ts";
import { readIfExists } from "./figures.mjs";

/** Kinds of processes by command line. The first match wins. */
const KINDS = [
  ["runtime", /\bworkerd\b|\bdeno serve\b/],
  ["renderers", /--type=renderer/],
  ["graphics", /--type=gpu-process/],
  ["network", /--type=utility.*network/],
  ["others", /--type=/],
  ["browser", /--remote-debugging-port/],
];

/** Memory in MB by kind of process, and the sum for the browser. Shared memory is divided among its processes (PSS). */
export function memoryByKind() {
  const sums = {};
  for (const { pid, command } of descendants()) {
    const kind = KINDS.find(([, pattern]) => pattern.test(command))?.[0];
    const pss = /^Pss:\s+(\d+)/m.exec(readIfExists(`/proc/${pid}/smaps_rollup`))?.[1];
    if (kind !== undefined && pss !== undefined) sums[kind] = (sums[kind] ?? 0) + Number(pss) / 1024;
  }
  const { runtime = 0, ...own } = sums;
  return {
    ...own,
    "browser in all": Object.values(own).reduce((sum, megabytes) => sum + megabytes, 0),
    "runtime, resident": runtime,
  };
}

/**
 * Prints memory samples by name, with the growth since the first sample: of the last and of the largest sample.
 *
 * @param {string} when time of the samples
 * @param {Record<string, number>[]} samples MB
 */
export function printMemory(when, samples) {
  console.log(
    `\n${when}, MB; what processes share is divided between them; grown to the last, and to the largest`,
  );
  for (const name of new Set(samples.flatMap(Object.keys))) {
    const values = samples.map((sample) => sample[name] ?? 0);
    const growth = (value) => `${((value / values[0] - 1) * 100).toFixed(0)} %`.padStart(6);
    const numbers = values.map((value) => value.toFixed(0).padStart(4)).join("");
    console.log(`  ${name.padEnd(20)}${numbers} ${growth(values.at(-1))} ${growth(Math.max(...values))}`);
  }
}
