/**
 * Long searches for leaks, on both runtimes. Each part has a seed, ends by itself, and checks its accounts: every slot,
 * waiting request, upstream exchange, session and record must be accounted for. All columns of the table except the last
 * ones must be 0.
 *
 * npm run campaign                                           every part in its short form
 * npm run campaign -- --full                                 with full counts: hours
 * npm run campaign -- --part departures --runtime deno --count 500 --seed 7
 */
import { parseArgs } from "node:util";
import { GatewayUnderTest, type Leaks, type Runtime, randomFrom } from "./gateway-under-test.ts";
import type { Part, PartResult } from "./part.ts";
import { departures } from "./parts/departures.ts";
import { disks } from "./parts/disks.ts";
import { dribbles } from "./parts/dribbles.ts";
import { durability } from "./parts/durability.ts";
import { edits } from "./parts/edits.ts";
import { faults } from "./parts/faults.ts";
import { numbers } from "./parts/numbers.ts";
import { evictions, kills } from "./parts/restarts.ts";
import { soak } from "./parts/soak.ts";
import { sockets } from "./parts/sockets.ts";
import { usage } from "./parts/usage.ts";

const PARTS: readonly Part[] = [
  departures,
  evictions,
  kills,
  faults,
  soak,
  edits,
  usage,
  durability,
  disks,
  numbers,
  dribbles,
  sockets,
];
const RUNTIMES: readonly Runtime[] = ["workers", "deno"];

const { values } = parseArgs({
  options: {
    part: { type: "string" },
    runtime: { type: "string" },
    count: { type: "string" },
    seed: { type: "string" },
    full: { type: "boolean" },
  },
});
const seed = Number(values.seed ?? 20_261_122);
const chosen = PARTS.filter(({ name }) => values.part === undefined || values.part.split(",").includes(name));
if (chosen.length === 0) throw new Error(`There are the parts ${PARTS.map(({ name }) => name).join(", ")}.`);

type Row = { part: string; runtime: string; count: number } & Leaks &
  Required<Omit<PartResult, "note">> & { uncaught: number; seconds: number };

const NO_LEAKS: Leaks = { slots: 0, waiters: 0, upstream: 0, sessions: 0, records: 0, rows: 0, sockets: 0 };

/**
 * Runs a part and returns its row. A part that cannot continue, for example because the gateway has crashed, counts as
 * wrong.
 */
async function play(part: Part, runtime: Runtime): Promise<Row> {
  const count = Number(values.count ?? (values.full === true ? part.full : part.short));
  const from = performance.now();
  const seconds = () => Math.round((performance.now() - from) / 1_000);
  try {
    return { ...(await closeBooks(part, runtime, count)), seconds: seconds() };
  } catch (error) {
    console.log(`  ${part.name} on ${runtime} did not come to its end:`, error);
    const nothing = { twice: 0, late: 0, lost: 0, grown: 0, uncaught: 0 };
    return { part: part.name, runtime, count, ...NO_LEAKS, wrong: 1, ...nothing, seconds: seconds() };
  }
}

async function closeBooks(part: Part, runtime: Runtime, count: number): Promise<Omit<Row, "seconds">> {
  const site = await GatewayUnderTest.start(runtime, part.site);
  try {
    const found = await part.run({ site, count, random: randomFrom(seed) });
    const leaks = await site.settled();
    const { wrong = 0, twice = 0, late = 0, lost = 0, grown = 0, note } = found;
    const uncaught = site.gateway.logs().filter((line) => /"uncaught"|Uncaught/.test(line)).length;
    if (note !== undefined) console.log(`${part.name} on ${runtime}: ${count} ${part.what}; ${note}`);
    return { part: part.name, runtime, count, ...leaks, wrong, twice, late, lost, grown, uncaught };
  } finally {
    await site.close();
  }
}

const rows: Row[] = [];
for (const part of chosen) {
  for (const runtime of part.runtimes ?? RUNTIMES) {
    if (values.runtime === undefined || values.runtime === runtime) rows.push(await play(part, runtime));
  }
}
console.table(rows);
const nonZero = rows.filter(
  ({ part: _part, runtime: _runtime, count: _count, seconds: _seconds, ...columns }) =>
    Object.values(columns).some((value) => value !== 0),
);
console.log(nonZero.length === 0 ? `The books are balanced (seed ${seed}).` : `Not balanced (seed ${seed}).`);
process.exit(nonZero.length === 0 ? 0 : 1);
