/**
 * Tries all that strangers and models may say on every parser that meets it, with ever new seeds: the tool scanner's
 * properties, and the targets in `test/unit/fuzz/`. A failure is shrunk, printed, and saved as a case that the unit tests then
 * repeat.
 *
 *     npm run fuzz                        until it is stopped
 *     npm run fuzz -- 20                  so many rounds
 *     npm run fuzz -- --minutes 60        so long
 *     npm run fuzz -- multipart scanner   those whose names have one of the words
 *     npm run fuzz -- --guided            by what of the program inputs reach; slower, without the scanner's properties
 *
 * TOOLS_SEED begins at a seed.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { targets } from "../unit/fuzz/targets.ts";
import { type Failure, properties } from "../unit/tools/properties.ts";
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
  /** Inputs so far that reached something new. */
  found?(): number;
}

const plain: readonly Tried[] = [
  ...properties.map(({ name, check }) => ({ name: `scanner: ${name}`, folder: "tools", check })),
  ...targets.map((one) => ({
    name: one.name,
    folder: "fuzz",
    check: (seed: number, runs: number) => one.check(seed, runs),
  })),
];
const guided: readonly Tried[] = targets.map((one) => {
  const target = new GuidedTarget(one);
  return {
    name: one.name,
    folder: "fuzz",
    check: (seed: number, runs: number) => target.check(seed, runs),
    found: () => target.found,
  };
});
const all = values.guided === true ? guided : plain;
const chosen = all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

let failures = 0;
let seed = Number(process.env["TOOLS_SEED"] ?? Date.now() % 2 ** 31);
for (let round = 1; round <= rounds && Date.now() < end; round++, seed++) {
  for (const { name, folder, check } of chosen) {
    const failure = await check(seed, RUNS);
    if (!failure) continue;
    failures++;
    const text = JSON.stringify({ property: name.replace("scanner: ", ""), ...failure }, null, 2);
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    const file = decodeURIComponent(
      new URL(`../unit/${folder}/cases/${hash}.json`, import.meta.url).pathname,
    );
    writeFileSync(file, `${text}\n`);
    console.error(`seed ${seed}: ${name}\n${failure.reason}\nsaved as ${file}`);
  }
  const found = chosen.reduce((sum, one) => sum + (one.found?.() ?? 0), 0);
  const reached = values.guided === true ? `, ${found} reached something new` : "";
  console.info(
    `round ${round}, seed ${seed}: ${chosen.length * RUNS} inputs, ${failures} failures so far${reached}`,
  );
}
process.exitCode = failures > 0 ? 1 : 0;
