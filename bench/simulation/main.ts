/**
 * Simulates the account pool at sizes that no developer machine has: the real rules and the real lease holders, on a
 * virtual clock and network. bench/results/pool.md describes the simulation and the results.
 *
 * npm run simulate                                       everything: some minutes and 2 GB
 * npm run simulate -- --part ceiling,sizes,days,caches,cpu      parts of it
 * npm run simulate -- --accounts 5000 --rate 2000 --shards 1,4,8 --seed 7 [--rough] [--global 4000] [--seconds 10]
 *
 * Exits with an error if an account or the deployment exceeded its limit.
 */
import { parseArgs } from "node:util";
import { printCaches } from "./caches.ts";
import { costs } from "./cpu.ts";
import { REGIONS } from "./regions.ts";
import { type Result, type Scenario, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    part: { type: "string" },
    accounts: { type: "string" },
    rate: { type: "string" },
    shards: { type: "string" },
    global: { type: "string" },
    seconds: { type: "string" },
    seed: { type: "string" },
    rough: { type: "boolean" },
  },
});

/** All disturbances in one run. */
const ROUGH = { burst: 3, banned: 0.1, deployment: true, lostRegion: "weur" } as const;
const seed = Number(values.seed ?? 20_261_122);
const calm = (accounts: number, rate: number, shards: number, seconds = 6): Scenario => ({
  accounts,
  rate,
  shards,
  lengthMs: Number(values.seconds ?? seconds) * 1_000,
  seed,
});

const PARTS: Readonly<Record<string, readonly Scenario[]>> = {
  ceiling: [100, 300, 500, 600, 700, 900].map((rate) => calm(2_000, rate, 1)),
  sizes: [
    calm(100, 10, 1, 60),
    calm(100, 100, 1, 20),
    calm(100, 100, 6, 20),
    calm(1_000, 500, 1),
    calm(1_000, 500, 6),
    calm(10_000, 5_000, 8),
    calm(10_000, 5_000, 16),
    calm(100_000, 20_000, 32, 4),
    calm(100_000, 20_000, 64, 4),
  ],
  days: [
    { ...calm(100, 50, 1, 20), ...ROUGH },
    { ...calm(1_000, 300, 1, 15), ...ROUGH },
    { ...calm(1_000, 300, 6, 15), ...ROUGH, global: 1_200 },
    { ...calm(10_000, 3_000, 16, 12), ...ROUGH },
  ],
};

const ms = (value: number): string => (Number.isNaN(value) ? "" : String(Math.round(value)));

function row({ scenario, waits, byRegion, ...found }: Result) {
  const { accounts, rate, shards, deployment } = scenario;
  const refusals = Object.entries(found.refusals).map(([why, count]) => `${count} ${why}`);
  return {
    accounts,
    "requests/s": rate,
    shards,
    day: deployment === true ? "rough" : "calm",
    ...Object.fromEntries(
      REGIONS.map(({ name }, region) => [
        name,
        `${ms(byRegion[region]?.p50 ?? Number.NaN)}/${ms(byRegion[region]?.p99 ?? Number.NaN)}`,
      ]),
    ),
    longest: ms(waits.longest),
    "longest/median": (waits.longest / waits.p50).toFixed(1),
    requests: found.requests,
    unserved: refusals.length === 0 ? 0 : refusals.join(", "),
    aborted: found.aborted,
    "double grants": found.doubleGrants,
    "over limit": found.overLimit,
    left: found.left,
    "messages/request": found.messagesPerRequest.toFixed(2),
    "busiest/s": ms(found.busiestShard),
  };
}

const failures: string[] = [];
async function play(scenarios: readonly Scenario[]): Promise<void> {
  for (const [index, scenario] of scenarios.entries()) {
    const result = await simulate(scenario);
    const cells = row(result);
    const columns = Object.keys(cells);
    if (index === 0) console.log(`| ${columns.join(" | ")} |\n|${" --- |".repeat(columns.length)}`);
    console.log(`| ${Object.values(cells).join(" | ")} |`);
    const { doubleGrants, overLimit, left } = result;
    if (doubleGrants + overLimit + left > 0) failures.push(JSON.stringify(scenario));
  }
  console.log();
}

console.log("Time to a lease by region: median/99th percentile, milliseconds.\n");
if (values.accounts !== undefined || values.rate !== undefined || values.shards !== undefined) {
  const rough = values.rough === true ? ROUGH : {};
  const more = values.global === undefined ? rough : { ...rough, global: Number(values.global) };
  await play(
    (values.shards ?? "1").split(",").map((shards) => ({
      ...calm(Number(values.accounts ?? 1_000), Number(values.rate ?? 100), Number(shards), 10),
      ...more,
    })),
  );
} else {
  const wanted = values.part?.split(",");
  for (const [name, scenarios] of Object.entries(PARTS)) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    console.log(`## ${name}\n`);
    await play(scenarios);
  }
  if (wanted === undefined || wanted.includes("caches")) {
    console.log("## caches\n");
    printCaches();
  }
  if (wanted === undefined || wanted.includes("cpu")) {
    console.log("## cpu\n");
    for (const { accounts, microseconds } of costs())
      console.log(`acquire and release with ${accounts} accounts: ${microseconds.toFixed(2)} µs`);
  }
}
if (failures.length > 0) {
  console.error(`A limit was passed, or something was left, in:\n${failures.join("\n")}`);
  process.exitCode = 1;
}
