import { LIVE, WORKLOADS } from "./workloads.mjs";

const [ONE, MANY] = WORKLOADS;

/** The most that a chunk may be late where a number of live streams counts as carried. */
const LATE_MS = 100;

/**
 * What is aimed at, and what was measured of it.
 *
 * @param {ReadonlyMap<string, readonly object[]>} rows by workload
 * @param {readonly { name: string, mb: number }[]} live heaps
 * @returns {import("./report.mjs").Aim[]}
 */
export function aimsOf(rows, live) {
  const aims = [];
  const of = (workload, subject) => rows.get(workload.name)?.find((row) => row.subject === subject);
  const cpu = (workload, subject, base) => of(workload, subject)?.cpuMs / of(workload, base)?.cpuMs;
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
  aim("the same on Deno: of the pass-through Worker", cpu(MANY, "gateway, Deno", "pass-through"), 2, "×");
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
    const row = of(LIVE, gateway);
    const direct = of(LIVE, "direct");
    aim(
      `200 live streams: added to the first chunk, median${where}`,
      row?.firstMs - direct?.firstMs,
      2,
      "ms",
    );
    aim(`the same, 99 of 100${where}`, row?.firstP99Ms - direct?.firstP99Ms, 25, "ms");
    const carried = WORKLOADS.filter((workload) => of(workload, gateway)?.lagMaxMs <= LATE_MS);
    const most = Math.max(...carried.map((workload) => workload.live ?? 0));
    if (rows.size === WORKLOADS.length)
      aim(`live streams with no chunk later than ${LATE_MS} ms${where}`, Math.max(0, most), 400, "", true);
    aim(`live heap after the load${where}`, live.find(({ name }) => name === gateway)?.mb, 20, "MB");
  }
  return aims;
}
