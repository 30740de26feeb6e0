/**
 * Model check of several pools. Drives the real rules of shards by random operations, over a network that delays, reorders,
 * repeats and loses messages. Operations restart shards, add and remove accounts, edit limits, and add and remove shards.
 * An omniscient reference checks the invariants. docs/scale.md describes the invariants and the results.
 *
 * npm run model                                      1,000,000 operations
 * npm run model -- --operations 50000 --seed 7
 *
 * Each run of 5,000 operations starts with new shards and its own seed, and ends when all slots are released. The first
 * failing run is shrunk and printed, and the command fails.
 */
import { parseArgs } from "node:util";
import { play, shrunk, stepsOf } from "./run.ts";

const RUN = 5_000;
const TRIES = 1_000;

const { values } = parseArgs({ options: { operations: { type: "string" }, seed: { type: "string" } } });
const operations = Number(values.operations ?? 1_000_000);
const seed = Number(values.seed ?? 1);

const began = performance.now();
const totals: Record<string, number> = {};
let failed = false;
for (let done = 0, run = 0; done < operations && !failed; done += RUN, run += 1) {
  const count = Math.min(RUN, operations - done);
  const steps = stepsOf(seed + run, count);
  const { counts, mostInUse, fault } = await play(steps);
  for (const [name, value] of Object.entries({ ...counts, operations: count }))
    totals[name] = (totals[name] ?? 0) + value;
  totals["mostInUse"] = Math.max(totals["mostInUse"] ?? 0, mostInUse);
  if (fault === null) continue;
  failed = true;
  console.error(`seed ${seed + run}, ${count} operations: ${fault}`);
  const few = await shrunk(steps, TRIES);
  console.error(`${few.length} of them suffice: ${(await play(few)).fault}\n${JSON.stringify(few)}`);
  console.error(`again: npm run model -- --operations ${count} --seed ${seed + run}`);
}
const seconds = (performance.now() - began) / 1_000;
console.log(totals);
console.log(
  `${Math.round((totals["operations"] ?? 0) / seconds)} operations a second, ${Math.round(seconds)} s`,
);
if (failed) process.exitCode = 1;
