/**
 * Runs the properties of the tool scanner with ever new seeds until it is stopped (`npm run fuzz`), or for as many rounds
 * as the first argument says. A failure is shrunk, printed, and saved as a case that the unit tests then repeat.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { properties } from "../unit/tools/properties.ts";

const RUNS = 2000;
const rounds = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
const cases = decodeURIComponent(new URL("../unit/tools/cases/", import.meta.url).pathname);

let failures = 0;
let seed = Number(process.env["TOOLS_SEED"] ?? Date.now() % 2 ** 31);
for (let round = 1; round <= rounds; round++, seed++) {
  for (const { name, check } of properties) {
    const failure = check(seed, RUNS);
    if (!failure) continue;
    failures++;
    const text = JSON.stringify({ property: name, ...failure }, null, 2);
    const file = `${cases}${createHash("sha256").update(text).digest("hex").slice(0, 12)}.json`;
    writeFileSync(file, `${text}\n`);
    console.error(`seed ${seed}: ${name}\n${failure.reason}\nsaved as ${file}`);
  }
  console.info(
    `round ${round}, seed ${seed}: ${properties.length * RUNS} texts, ${failures} failures so far`,
  );
}
process.exitCode = failures > 0 ? 1 : 0;
