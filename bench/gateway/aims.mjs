import { LIVE, WORKLOADS } from "./workloads.mjs";

const [ONE, MANY] = WORKLOADS;

/** Maximum delay of a chunk, in milliseconds. With more, a number of live streams counts as not sustained. */
const LATE_MS = 100;

/**
 * Returns the targets and the measured values.
 *
 * @param {ReadonlyMap<string, readonly object[]>} rows by workload
 * @param {readonly { name: string, mb: number }[]} live heaps
 * @returns {import("./report.mjs").Aim[]}
 */
export function aimsOf(rows, live) {
  const aims = [];
  const of = (workload, subject) => rows.get(workload.name)?.find((row) => row.subject === subject);
  const cpu = (workload, subject, base) => of(workload, subject)?.cpuMs / of(workload, base)?.cpuMs;
  // The value of the copying Worker is the part that the machine causes. No gateway can be better.
  const beside = (value) =>
    of(LIVE, "copying loop") === undefined ? "" : ` (the Worker that copies: ${value})`;
  const aim = (name, value, most, unit, atLeast = false) => {
    if (Number.isFinite(value)) aims.push({ name, value, aim: most, unit, atLeast });
  };
  aim(
    "whole answers, one at a time: CPU of a pass-through Worker",
    cpu(ONE, "gateway", "pass-through"),
    2.4,
    "×",
  );
  aim("whole answers, 32 at a time: the same", cpu(MANY, "gateway", "pass-through"), 2.6, "×");
  aim(
    "the same: of a pass-through that has a slot over RPC",
    cpu(MANY, "gateway", "slot over RPC"),
    1.5,
    "×",
  );
  for (const [gateway, which, most] of [
    ["gateway, native", "on the native path with a lease", 2.4],
    ["gateway, no limit", "on the native path without a limit", 1.9],
  ]) {
    aim(
      `whole answers, one at a time, ${which}: of a pass-through`,
      cpu(ONE, gateway, "pass-through"),
      most,
      "×",
    );
    aim(`whole answers, 32 at a time, ${which}: the same`, cpu(MANY, gateway, "pass-through"), most, "×");
  }
  aim(
    "whole answers, 32 at a time, on Deno: of the pass-through Worker",
    cpu(MANY, "gateway, Deno", "pass-through"),
    2,
    "×",
  );
  aim(
    "200 live streams: CPU of a Worker that only copies chunks",
    cpu(LIVE, "gateway", "copying loop"),
    1.1,
    "×",
  );
  aim("the same on Deno: of the Worker that copies", cpu(LIVE, "gateway, Deno", "copying loop"), 1.1, "×");
  for (const [gateway, where] of [
    ["gateway", ""],
    ["gateway, Deno", ", Deno"],
  ]) {
    for (const [field, which, most] of [
      ["firstMs", "200 live streams: added to the first chunk, median", 2],
      ["firstP99Ms", "the same, 99 of 100", 25],
    ]) {
      const added = (subject) => of(LIVE, subject)?.[field] - of(LIVE, "direct")?.[field];
      aim(`${which}${where}${beside(added("copying loop").toFixed(1))}`, added(gateway), most, "ms");
    }
    const carried = (subject) =>
      Math.max(
        0,
        ...WORKLOADS.filter((each) => of(each, subject)?.lagMaxMs <= LATE_MS).map(({ live = 0 }) => live),
      );
    if (rows.size === WORKLOADS.length) {
      const name = `live streams with no chunk later than ${LATE_MS} ms${where}`;
      aim(`${name}${beside(carried("copying loop"))}`, carried(gateway), 400, "", true);
    }
    aim(`live heap after the load${where}`, live.find(({ name }) => name === gateway)?.mb, 20, "MB");
  }
  return aims;
}
