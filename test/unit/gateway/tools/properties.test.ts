import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { properties } from "./properties.ts";

// Long enough for a machine that is busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const seed = Number(process.env["TOOLS_SEED"] ?? Date.now() % 2 ** 31);
console.info(`properties seed ${seed}`);

const folder = decodeURIComponent(new URL("./cases/", import.meta.url).pathname);
const saved = readdirSync(folder).filter((file) => file.endsWith(".json"));

describe("for any text", () => {
  it.each(properties.map((one) => [one.name, one] as const))("%s", (_name, one) => {
    expect(one.check(seed, 400)).toBeUndefined();
  });
});

it("all properties hold for every earlier failing case", () => {
  for (const file of saved) {
    const { property, value }: { property: string; value: unknown } = JSON.parse(
      readFileSync(`${folder}${file}`, "utf8"),
    );
    const found = properties.find((one) => one.name === property);
    expect(found, file).toBeDefined();
    expect(() => found?.repeat(value), file).not.toThrow();
  }
});
