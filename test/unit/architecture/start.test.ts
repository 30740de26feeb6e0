import { execFile, execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type Metafile, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildId, place, WORKER } from "../../../scripts/build-worker.mjs";
import { root } from "./sources.ts";

/** What only Workers have, by name alone: the modules that want it are run, and ask for nothing. */
const WORKERS: Plugin = {
  name: "workers",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cloudflare:|\.wasm$|\.txt$/ }, ({ path }) => ({ path, namespace: "workers" }));
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

/** Runs what an isolate runs before it serves anything. Zod calls `postProcessor` for all that is made with it. */
const RUN = `
  let made = 0;
  globalThis.__zod_globalConfig = { postProcessor: () => { made += 1; } };
  await import("./worker.js");
  console.log(made);`;

const folder = mkdtempSync(join(tmpdir(), "start-"));
let outputs: Metafile["outputs"] = {};
/** All that is deployed, zipped: bytes. */
let zipped = 0;

beforeAll(async () => {
  const { outputFiles = [], metafile } = await build({
    ...WORKER,
    outdir: folder,
    write: false,
    metafile: true,
    external: [],
    plugins: [WORKERS, ...(WORKER.plugins ?? [])],
  });
  mkdirSync(join(folder, "parts"));
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  writeFileSync(join(folder, "run.mjs"), RUN);
  outputs = metafile?.outputs ?? {};
  zipped = outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The files that are loaded with one of the build, itself included, by their path in the build. */
function loadedWith(file: string, files = new Set<string>()): ReadonlySet<string> {
  if (files.has(file)) return files;
  files.add(file);
  for (const { path, kind } of outputs[file]?.imports ?? []) {
    if (kind === "import-statement" && path in outputs) loadedWith(path, files);
  }
  return files;
}

const nameOf = (file: string) => basename(resolve(root, file));

/** What an isolate loads at its start: files of the build. */
function first(): ReadonlySet<string> {
  const entry = Object.keys(outputs).find((file) => nameOf(file) === "worker.js") ?? "";
  return loadedWith(entry);
}

/** The sources of which something is in files of the build. */
const sourcesOf = (files: Iterable<string>): string[] =>
  [...files].flatMap((file) =>
    Object.entries(outputs[file]?.inputs ?? {}).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput === 0 ? [] : [path],
    ),
  );

it("makes few schemas before the first request comes", () => {
  const made = execFileSync(process.execPath, [join(folder, "run.mjs")], { encoding: "utf8" });
  expect(Number(made)).toBeGreaterThan(0);
  expect(Number(made)).toBeLessThan(100);
});

it("begins with no more code than most requests need", () => {
  const bytes = [...first()].reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(838_500);
});

it("loads what few requests need when they do: surfaces, the browser's protocol, codecs, what reads tokens", () => {
  const early = sourcesOf(first());
  const late = sourcesOf(Object.keys(outputs)).filter((path) => !early.includes(path));
  for (const path of [
    "src/operator/admin/index.ts",
    "src/pages/index.ts",
    "src/core/routing/openapi.ts",
    "src/core/auth/admin-token.ts",
    "src/runtime/cloudflare/codecs.ts",
  ])
    expect(late).toContain(path);
  const rooms =
    /^(?:src\/(?:operator\/admin|pages\/(?:thumbnails|technologies|metadata|landing-page))\/|node_modules\/(?:@cloudflare|@fastify|@jsquash|htmlparser2|jose|wappalyzer-core)\/)|\.wasm$/;
  const needed = ["src/operator/admin/route-group.ts", "src/operator/admin/family.ts"];
  expect(early.filter((path) => rooms.test(path) && !needed.includes(path))).toEqual([]);
});

it("begins with the style that is asked most, and of all others with what the edge must know", () => {
  const early = sourcesOf(first()).filter((path) => /^src\/gateway\/dialects\/[\w-]+\//.test(path));
  const whole = /^src\/gateway\/dialects\/(?:chat-completions|shared)\//;
  const edge = /\/(?:dialect|family|limit-headers|names)\.ts$/;
  expect(early.filter((path) => !whole.test(path) && !edge.test(path))).toEqual([]);
  expect(early).toContain("src/gateway/dialects/chat-completions/endpoints.ts");
});

it("holds the words of schemas' errors in one language", () => {
  const locales = sourcesOf(Object.keys(outputs)).filter((path) => path.includes("/zod/v4/locales/"));
  expect(locales).toEqual(["node_modules/zod/v4/locales/en.js"]);
});

it("stays small in all, zipped, without what draws and packs images", () => {
  expect(zipped).toBeGreaterThan(100 * 1024);
  expect(zipped).toBeLessThan(862 * 1024);
});

describe("the name of a build", () => {
  const at = join(folder, "named");
  const put = (path: string, text: string) => writeFileSync(join(at, path), text);
  beforeAll(() => {
    for (const name of ["src/core/config", "durable-objects"]) mkdirSync(join(at, name), { recursive: true });
    put("src/core/config/schema.ts", "one");
  });

  it("is none where nothing says which libraries it is made with", () => {
    expect(buildId(at)).toBeNull();
    put("package-lock.json", "{}");
    expect(buildId(at)).toMatch(/^[\da-f]{16}$/);
  });

  it("is another for each change of a source or a library, and the same otherwise, whatever editors leave", () => {
    const ids = ["one", "two"].flatMap((text) => {
      put("package-lock.json", text);
      return ["three", "four"].map((source) => {
        put("src/core/config/schema.ts", source);
        return buildId(at);
      });
    });
    expect(new Set(ids).size).toBe(4);
    symlinkSync("nobody@nowhere.1:2", join(at, "src", "core", "config", ".#schema.ts"));
    expect(buildId(at)).toBe(ids.at(-1));
  });
});

describe("a build that is put in the place of the one before it", () => {
  /** Puts a build of an entry and one part into a folder, which others may have used. */
  function placed(name: string, part: string, before: (at: string) => void = () => undefined): string {
    const at = join(folder, name);
    mkdirSync(join(at, "parts"), { recursive: true });
    before(at);
    const files = ["worker.js", `parts/${part}.js`].map((path) => ({
      path: join(at, path),
      contents: new TextEncoder().encode(part),
    }));
    place(at, files);
    return at;
  }
  const filesOf = (at: string) => readdirSync(at, { recursive: true, encoding: "utf8" }).sort();

  it("leaves nothing of it", () => {
    placed("after", "old");
    const at = placed("after", "new");
    expect(filesOf(at)).toEqual(["parts", "parts/new.js", "worker.js"]);
  });

  it("has its parts there before its entry names them, and takes the former ones away afterwards", () => {
    const at = placed("broken", "old");
    // Nothing can take its place.
    rmSync(join(at, "worker.js"));
    mkdirSync(join(at, "worker.js", "full"), { recursive: true });
    expect(() => placed("broken", "new")).toThrow();
    expect(filesOf(at)).toEqual(expect.arrayContaining(["parts/new.js", "parts/old.js"]));
  });

  it("clears away what builds left that were ended, but not what another may be writing", () => {
    const at = placed("ended", "new", (made) => {
      for (const half of ["worker.js.111", "parts/x.js.222", "worker.js.333"])
        writeFileSync(join(made, half), "");
      for (const half of ["worker.js.111", "parts/x.js.222"]) utimesSync(join(made, half), 0, 0);
    });
    expect(filesOf(at)).toEqual(["parts", "parts/new.js", "worker.js", "worker.js.333"]);
  });

  it("is one of two builds, wholly, that are put there at once", async () => {
    const at = join(folder, "both");
    const script = pathToFileURL(join(root, "scripts", "build-worker.mjs")).href;
    const placing = (name: string) =>
      promisify(execFile)(process.execPath, [
        "--input-type=module",
        "--eval",
        `import { place } from ${JSON.stringify(script)};
        const file = (path) => ({ path: ${JSON.stringify(at)} + "/" + path, contents: Buffer.from(${JSON.stringify(name)}) });
        const parts = Array.from({ length: 20 }, (_, n) => file("parts/${name}" + n + ".js"));
        for (let n = 0; n < 40; n += 1) place(${JSON.stringify(at)}, [...parts, file("worker.js")]);`,
      ]);
    await Promise.all(["one", "two"].map(placing));
    const [name] = ["one", "two"].filter((each) => filesOf(at).includes(`parts/${each}0.js`));
    expect(readFileSync(join(at, "worker.js"), "utf8")).toBe(name);
    expect(filesOf(at)).toHaveLength(1 + 20 + 1);
    expect(filesOf(folder)).not.toContain("both.lock");
  });

  it.each([
    ["a while ago", -60],
    ["by a clock that was set back since", 60],
  ])("is not kept waiting by a build that was ended while it was put there, %s", (_, seconds) => {
    const lock = join(folder, "left.lock");
    mkdirSync(lock);
    const at = Date.now() / 1_000 + seconds;
    utimesSync(lock, at, at);
    expect(filesOf(placed("left", "new"))).toContain("worker.js");
    expect(filesOf(folder)).not.toContain("left.lock");
  });
});
