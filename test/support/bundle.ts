import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { unstable_getMiniflareWorkerOptions } from "wrangler";
import { cacheFolder, quietEnvironment, root, writeDevelopmentConfig } from "../../scripts/development.mjs";
import { makeFolderOnce } from "./make-folder-once.ts";

Object.assign(process.env, quietEnvironment);

/** A built Worker: the path of its configuration and the folder of its build. */
export interface Bundle {
  /** Path of the configuration. */
  readonly config: string;
  readonly folder: string;
  /** File name of the entry in the folder. */
  readonly entry: string;
}

/** What a Worker's configuration means for Miniflare. */
type WorkerOptions = ReturnType<typeof unstable_getMiniflareWorkerOptions>["workerOptions"];

/** The two Workers of development. */
export interface Bundles {
  readonly gateway: Bundle;
  readonly sandbox: Bundle;
}

const SOURCES = [
  "src",
  "durable-objects",
  "sandbox",
  "dist/block-lists.txt",
  "scripts/build-worker.mjs",
  "wrangler.toml",
  "package-lock.json",
];
/** The file of a build with the options of its configuration for Miniflare. */
const WORKER_OPTIONS = "worker-options.json";

let made: Promise<Bundles> | undefined;

/**
 * Builds both Workers as a deployment does. All test files of a run, and later runs with unchanged sources, share one
 * build.
 */
export function buildBundles(): Promise<Bundles> {
  made ??= build();
  return made;
}

async function build(): Promise<Bundles> {
  const config = writeDevelopmentConfig();
  const folder = join(cacheFolder, "bundles", fingerprint());
  const bundles: Bundles = {
    gateway: { config, folder: join(folder, "gateway"), entry: "worker.js" },
    sandbox: {
      config: join(root, "sandbox", "wrangler.toml"),
      folder: join(folder, "sandbox"),
      entry: "worker.js",
    },
  };
  mkdirSync(dirname(folder), { recursive: true });
  await makeFolderOnce(folder, async (half) => {
    // Loading Wrangler takes seconds: only the process that builds does it.
    const { unstable_getMiniflareWorkerOptions: workerOptions } = await import("wrangler");
    for (const { config, folder } of Object.values(bundles)) {
      const target = join(half, basename(folder));
      await dryRun(config, target);
      writeFileSync(join(target, WORKER_OPTIONS), JSON.stringify(workerOptions(config).workerOptions));
    }
    removeOld();
  });
  return bundles;
}

/** Returns what the Worker's configuration means for Miniflare. */
export function workerOptionsOf({ folder }: Bundle): WorkerOptions {
  return JSON.parse(readFileSync(join(folder, WORKER_OPTIONS), "utf8"));
}

/** Removes old builds. A recent build may still be in use by another run. */
function removeOld(): void {
  const bundles = join(cacheFolder, "bundles");
  for (const name of readdirSync(bundles)) {
    const stats = statSync(join(bundles, name), { throwIfNoEntry: false });
    if (stats === undefined || Date.now() - stats.mtimeMs < 3_600_000) continue;
    rmSync(join(bundles, name), { recursive: true, force: true });
  }
}

function dryRun(config: string, folder: string): Promise<void> {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const args = [wrangler, "deploy", "-c", config, "--dry-run", "--outdir", folder];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  child.stderr.on("data", (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`The build failed.\n${output}`))));
  });
}

/** Hash of the state of all sources: paths, sizes and modification times. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (stats.isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name));
    else hash.update(`${path} ${stats.size} ${stats.mtimeMs}\n`);
  };
  for (const source of SOURCES) add(join(root, source));
  return hash.digest("hex").slice(0, 16);
}

/** A file of a build in Miniflare's format. */
interface BundledModule {
  readonly type: "ESModule" | "Text" | "Data" | "CompiledWasm";
  readonly path: string;
  readonly contents: string | Uint8Array<ArrayBuffer>;
}

/** The modules of builds, by folder. */
const modules = new Map<string, readonly BundledModule[]>();

/**
 * The files of a build in Miniflare's format: the entry first, and then by size, because Miniflare copies all that it has
 * written before for each module.
 */
export function modulesOf(bundle: Bundle): BundledModule[] {
  const known = modules.get(bundle.folder) ?? readModules(bundle);
  modules.set(bundle.folder, known);
  return [...known];
}

function readModules({ folder, entry }: Bundle): readonly BundledModule[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const others = names
    .filter((name) => /\.(?:m?js|txt|wasm|bin)$/.test(name) && name !== entry)
    .map((name) => ({ name, size: statSync(join(folder, name)).size }))
    .sort((a, b) => a.size - b.size)
    .map(({ name }) => name);
  return [entry, ...others].map((name) => {
    const path = join(folder, name);
    if (/js$/.test(name)) return { type: "ESModule", path, contents: readFileSync(path, "utf8") };
    if (name.endsWith(".txt")) return { type: "Text", path, contents: readFileSync(path, "utf8") };
    const contents = new Uint8Array(readFileSync(path));
    return { type: name.endsWith(".wasm") ? "CompiledWasm" : "Data", path, contents };
  });
}
