import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");

function sources(folder: string): { path: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }));
}

const offenders = (files: { path: string; text: string }[], pattern: RegExp) =>
  files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe("the house", () => {
  const src = sources("src");

  it("has its sources where this test looks", () => {
    expect(src.length).toBeGreaterThan(30);
  });

  it("names runtimes only behind the platform seam", () => {
    const outside = src.filter(({ path }) => !/^src\/(?:worker|deno)\.ts$|^src\/platform\//.test(path));
    expect(offenders(outside, /from "cloudflare:|\bDeno\./)).toEqual([]);
  });

  it("keeps dialects out of generation and provider", () => {
    const inner = src.filter(({ path }) => /^src\/(?:generation|provider)\//.test(path));
    expect(offenders(inner, /from "(?:\.\.\/)+dialects\//)).toEqual([]);
  });

  it("keeps generation out of the provider drivers, but for the conversation they render", () => {
    const drivers = src.filter(({ path }) => /^src\/provider\/(?:sessions|openai)\//.test(path));
    expect(offenders(drivers, /from "(?:\.\.\/)+generation\/(?!conversation|ids|tokens)/)).toEqual([]);
  });

  it("silences no type", () => {
    const everything = [...src, ...sources("durable-objects"), ...sources("sandbox")];
    expect(
      offenders(everything, /: any[;,)\]=|]|<any>|\bas any\b|as unknown as|@ts-ignore|@ts-expect-error/),
    ).toEqual([]);
  });
});
