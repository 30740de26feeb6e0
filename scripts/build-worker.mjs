// Makes what runs on Workers: `worker.js`, and beside it the modules that it loads when they are first needed, which wrangler would put into one
// file. Wrangler runs this before it starts or deploys the Worker (`[build]` in wrangler.toml).
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { root } from "./development.mjs";

/** Modules of Node are the runtime's own. CommonJS may ask for them, too. */
const NODE = {
  name: "node",
  setup({ onResolve, onLoad }) {
    const names = new RegExp(
      `^(?:node:.+|${builtinModules.filter((name) => !name.startsWith("_")).join("|")})$`,
    );
    onResolve({ filter: names }, ({ path, kind }) => {
      const name = path.startsWith("node:") ? path : `node:${path}`;
      return kind === "require-call" ? { path: name, namespace: "node" } : { path: name, external: true };
    });
    onLoad({ filter: /.*/, namespace: "node" }, ({ path }) => ({
      contents: `import its from "${path}"; module.exports = its;`,
    }));
  },
};

/** Longer than any build takes. */
const LONGEST_BUILD_MS = 60_000;

/** What the Worker is made of: sources, and what says which versions of the libraries. */
const SOURCES = ["src", "durable-objects"];
const VERSIONS = "package-lock.json";

/**
 * Names the sources as they are: what one build has checked, another one checks anew. Null where no `package-lock.json` says which libraries are
 * used, as with other package managers: then nobody knows.
 */
export function buildId(folder = root) {
  if (!isFile(join(folder, VERSIONS))) return null;
  const hash = createHash("sha256");
  const files = SOURCES.flatMap((source) =>
    readdirSync(join(folder, source), { recursive: true }).map((name) => join(source, name)),
  );
  for (const file of [VERSIONS, ...files.sort()]) {
    // Editors leave links beside the sources that lead nowhere.
    if (isFile(join(folder, file))) hash.update(`${file}\n`).update(readFileSync(join(folder, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** How esbuild makes the Worker. */
export const WORKER = {
  absWorkingDir: root,
  entryPoints: ["src/worker.ts"],
  outdir: join(root, "dist", "worker"),
  // A name of their own by which `rules` in wrangler.toml know them: not all that ends like this is a module.
  chunkNames: "parts/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2024",
  // What the runtime has itself.
  supported: { using: true },
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*"],
  loader: { ".txt": "copy", ".wasm": "copy" },
  define: { "process.env.NODE_ENV": '"production"', BUILD_ID: JSON.stringify(buildId()) },
  plugins: [NODE],
  minify: true,
  logLevel: "warning",
};

/**
 * Builds the Worker. Modules that are loaded late have their place beside it; what several of them need is in modules of its own.
 *
 * @param {{ folder?: string, readable?: boolean }} [options] `readable`: names as in the source
 */
export async function buildWorker({ folder = WORKER.outdir, readable = false } = {}) {
  const { outputFiles } = await build({
    ...WORKER,
    outdir: folder,
    write: false,
    minify: !readable,
    sourcemap: "linked",
    sourcesContent: false,
  });
  place(folder, outputFiles);
}

/** Longer than any build takes to be put in its place. */
const LONGEST_PLACING_MS = 10_000;

/** How long one waits between looking whether another build is still being put in its place, milliseconds. */
const LOOK_MS = 20;

/**
 * Does something while nobody else does it in that folder: what two builds put there together would be neither of them.
 *
 * @param {string} folder
 * @param {() => void} work
 */
function alone(folder, work) {
  const lock = `${folder}.lock`;
  while (!isTaken(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Takes a lock that is free, or that was left behind by a build that was ended. */
function isTaken(lock) {
  const stats = statSync(lock, { throwIfNoEntry: false });
  // A clock may have been set back since.
  if (stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) > LONGEST_PLACING_MS)
    rmSync(lock, { recursive: true, force: true });
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

/**
 * Puts a build where the one before it is, one at a time. The entry comes last, so that it never names a part that is not there yet, and what only
 * the former build had goes when nothing names it any more: it would be deployed, too.
 *
 * @param {readonly { path: string, contents: Uint8Array }[]} files as esbuild gives them
 */
export function place(folder, files) {
  mkdirSync(join(folder, "parts"), { recursive: true });
  alone(folder, () => placeAlone(folder, files));
}

function placeAlone(folder, files) {
  const made = new Set(files.map(({ path }) => relative(folder, path)));
  const isEntry = ({ path }) => basename(path).startsWith("worker.js");
  for (const file of [...files.filter((each) => !isEntry(each)), ...files.filter(isEntry)]) replace(file);
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, name);
    if (/\.(?:js|map|txt|wasm)$/.test(name) ? !made.has(name) : isLeftBehind(path))
      rmSync(path, { force: true });
  }
}

/** Whether a file is half of one whose build was ended: wrangler ends a build when a source changes meanwhile. */
function isLeftBehind(path) {
  const stats = /\.\d+$/.test(path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return stats?.isFile() === true && Date.now() - stats.mtimeMs > LONGEST_BUILD_MS;
}

/** Whoever reads the file meanwhile has it as it was or as it is. */
function replace({ path, contents }) {
  try {
    if (readFileSync(path).equals(contents)) return;
  } catch {
    // There was none.
  }
  const half = `${path}.${process.pid}`;
  writeFileSync(half, contents);
  renameSync(half, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildWorker({ readable: process.env.READABLE === "true" });
}
