/**
 * The model check of several pools: the real rules of shards, driven by random operations over a network that delays, reorders, repeats
 * and loses messages, with shards restarted, accounts added and removed, limits edited and shards added and taken away, against a
 * reference that sees everything. docs/scale.md says what is checked, and what came of it.
 *
 *     npm run model                                      1,000,000 operations
 *     npm run model -- --operations 50000 --seed 7
 *
 * Each run of 5,000 operations begins with new shards and a seed of its own, and ends with everything given back. The first that
 * goes wrong is shrunk and printed, and the command fails.
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
