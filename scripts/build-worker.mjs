// Makes what runs on Workers: `worker.js`, and beside it the modules that it loads when they are first needed, which wrangler would put into one
// file. Wrangler runs this before it starts or deploys the Worker (`[build]` in wrangler.toml).
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, relative } from "node:path";
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
  define: { "process.env.NODE_ENV": '"production"' },
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
  mkdirSync(join(folder, "parts"), { recursive: true });
  const made = new Set(outputFiles.map(({ path }) => relative(folder, path)));
  for (const { path, contents } of outputFiles) replace(path, contents);
  // Those of builds before this one would be deployed, too.
  for (const name of readdirSync(folder, { recursive: true })) {
    if (/\.(?:js|map|txt|wasm)$/.test(name) && !made.has(name)) rmSync(join(folder, name), { force: true });
  }
}

/** Whoever reads the file meanwhile has it as it was or as it is. */
function replace(path, contents) {
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
