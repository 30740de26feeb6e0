import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "./sources.ts";

/** What only Workers have, by name alone: the modules that want it are run, and ask for nothing. */
const WORKERS: Plugin = {
  name: "workers",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cloudflare:|\.wasm/ }, ({ path }) => ({ path, namespace: "workers" }));
    onLoad({ filter: /.*/, namespace: "workers" }, () => ({
      contents: `
        export class DurableObject {}
        export class RpcTarget {}
        export const env = {};
        export const waitUntil = () => {};
        export const connect = () => {};
        export default {};`,
    }));
  },
};

/** Zod calls this for all that is made with it. */
const COUNT = "let made = 0; globalThis.__zod_globalConfig = { postProcessor: () => { made += 1; } };";

const folder = mkdtempSync(join(tmpdir(), "start-"));
const file = join(folder, "worker.cjs");
let text = "";

beforeAll(async () => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["src/worker.ts"],
    outfile: file,
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    loader: { ".txt": "empty" },
    banner: { js: COUNT },
    footer: { js: "console.log(made);" },
    plugins: [WORKERS],
  });
  text = outputFiles[0]?.text ?? "";
  writeFileSync(file, text);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("makes few schemas before the first request comes", () => {
  expect(Number(execFileSync(process.execPath, [file], { encoding: "utf8" }))).toBeLessThan(400);
});

// What a dynamic import leads to becomes functions, also what the rest of the program shares with it; those are parsed twice.
it("shares no schemas with what is loaded later", () => {
  const late = [...text.matchAll(/= __esm\(\{\n\s+"([^"]+)"/g)].map(([, path = ""]) => path);
  expect(late).toContain("src/pages/technologies/detect.ts");
  expect(late.filter((path) => path.startsWith("node_modules/zod/"))).toEqual([]);
});

it("holds the words of schemas' errors in one language", () => {
  const locales = [...text.matchAll(/^\/\/ (?:\S*\/)?node_modules\/zod\/v4\/locales\/(\S+)$/gm)].map(
    ([, name]) => name,
  );
  expect(locales).toEqual(["en.js"]);
});
