/**
 * Tries inputs of clients, providers and models on every parser that reads them, and random sequences of operations on every store:
 * the tool scanner's properties, and the targets in `test/unit/fuzz/`. Each round has new seeds. The fuzzer shrinks and prints a failure
 * and saves it as a case, which the unit tests repeat. Each target gets the same number of rounds. The last lines are a table of the
 * targets; the exit code is 1 if one has failed.
 *
 *     npm run fuzz                        until it is stopped
 *     npm run fuzz -- 20                  this number of rounds
 *     npm run fuzz -- --minutes 60        for this time
 *     npm run fuzz -- multipart scanner   the targets whose names have one of the words
 *     npm run fuzz -- --guided            guided by coverage: slower, without the scanner's properties
 *
 * TOOLS_SEED sets the first seed.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { targets } from "../unit/fuzz/targets.ts";
import { type Failure, properties } from "../unit/gateway/tools/properties.ts";
import { GuidedTarget } from "./guided.ts";

const RUNS = 2000;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string" }, guided: { type: "boolean" } },
});
const rounds = Number(positionals.find((one) => /^\d+$/.test(one)) ?? Number.POSITIVE_INFINITY);
const words = positionals.filter((one) => !/^\d+$/.test(one));
const end = Date.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;

interface Tried {
  readonly name: string;
  readonly folder: string;
  check(seed: number, runs: number): Failure | undefined | Promise<Failure | undefined>;
  /** Inputs that one round tries. */
  readonly runs: number;
  /** Inputs so far that reached something new. */
  found?(): number;
}

const plain: readonly Tried[] = [
  ...properties.map(({ name, check }) => ({ name: `scanner: ${name}`, folder: "tools", check, runs: RUNS })),
  ...targets.map((one) => ({
    name: one.name,
    folder: "fuzz",
    runs: RUNS / one.cost,
    check: (seed: number, runs: number) => one.check(seed, runs),
  })),
];
const guided: readonly Tried[] = targets.map((one) => {
  const target = new GuidedTarget(one);
  return {
    name: one.name,
    folder: "fuzz",
    runs: RUNS / one.cost,
    check: (seed: number, runs: number) => target.check(seed, runs),
    found: () => target.found,
  };
});
const all = values.guided === true ? guided : plain;
const chosen = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

/** What came of a target. */
const rows = new Map(chosen.map(({ name }) => [name, { rounds: 0, inputs: 0, failures: 0, seconds: 0 }]));

/** Tries one round of a target. Resolves to whether it failed. */
async function play({ name, folder, runs, check }: Tried, seed: number): Promise<boolean> {
  const row = rows.get(name);
  if (row === undefined) return false;
  const from = performance.now();
  const failure = await check(seed, runs);
  row.rounds += 1;
  row.inputs += runs;
  row.seconds += (performance.now() - from) / 1_000;
  if (failure === undefined) return false;
  row.failures += 1;
  const text = JSON.stringify({ property: name.replace("scanner: ", ""), ...failure }, null, 2);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const file = decodeURIComponent(new URL(`../unit/${folder}/cases/${hash}.json`, import.meta.url).pathname);
  writeFileSync(file, `${text}\n`);
  console.error(`seed ${seed}: ${name}\n${failure.reason}\nsaved as ${file}`);
  return true;
}

let failures = 0;
let seed = Number(process.env["TOOLS_SEED"] ?? Date.now() % 2 ** 31);
for (let round = 1; round <= rounds && Date.now() < end; round++, seed++) {
  for (const one of chosen) {
    // Each has its first round, however short the time is.
    if (round > 1 && Date.now() >= end) break;
    if (await play(one, seed)) failures += 1;
  }
  const found = chosen.reduce((sum, one) => sum + (one.found?.() ?? 0), 0);
  const reached = values.guided === true ? `, ${found} reached something new` : "";
  console.info(`round ${round}, seed ${seed}: ${failures} failures so far${reached}`);
}
const table = Array.from(rows, ([target, row]) => ({ target, ...row, seconds: Math.round(row.seconds) }));
console.table(table);
// Platforms of inputs may still wait to write records that are not needed.
process.exit(failures > 0 ? 1 : 0);
