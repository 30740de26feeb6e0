import { readdirSync, readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { targets } from "./targets.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

/** The same in CI, so that a change is judged by what it changes; `npm run fuzz` goes on from there. */
const seed = process.env["CI"] === undefined ? Date.now() % 2 ** 31 : 20_261_122;
const RUNS = 150;

const folder = decodeURIComponent(new URL("./cases/", import.meta.url).pathname);
const saved = readdirSync(folder).filter((file) => file.endsWith(".json"));

it.each(targets.map((one) => [one.name, one] as const))("%s, whatever comes", async (_name, one) => {
  expect(await one.check(seed, RUNS / one.cost)).toBeUndefined();
});

it("treats every input that it failed at once as it should", async () => {
  for (const file of saved) {
    const { property, value }: { property: string; value: string } = JSON.parse(
      readFileSync(`${folder}${file}`, "utf8"),
    );
    const found = targets.find((one) => one.name === property);
    expect(found, file).toBeDefined();
    await found?.repeat(value);
  }
});
