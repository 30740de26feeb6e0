// Builds the admin console into dist/assets/console, from which the gateway serves it.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { playgroundsPlugin } from "./console/playgrounds.mjs";
import { assetsFolder, root } from "./development.mjs";
import { isFresh } from "./freshness.mjs";

const source = join(root, "src", "operator", "console");
const dialects = join(root, "src", "gateway", "dialects");
const output = join(assetsFolder, "console");

/** Inputs of the build; newer inputs trigger a new build. */
const inputs = [
  source,
  dialects,
  import.meta.filename,
  join(import.meta.dirname, "console"),
  join(root, "package-lock.json"),
];

/** Inline icon, so that the browser does not request a favicon. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><path d="M10 0l8.7 5v10L10 20l-8.7-5V5z" fill="#2f5bd0"/></svg>';

/** An HTML page. It names all files that it needs, so that the browser fetches them in parallel. */
const page = (title, styles, scripts, chunks) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
${styles.map((name) => `<link rel="stylesheet" href="/console/${name}">`).join("\n")}
${chunks.map((name) => `<link rel="modulepreload" href="/console/${name}">`).join("\n")}
${scripts.map((name) => `<script type="module" src="/console/${name}"></script>`).join("\n")}
</head>
<body><div id="app"></div><noscript>This page needs JavaScript.</noscript></body>
</html>
`;

/** Builds the console, and the page for holders of keys, if its sources are newer than the output. */
export async function buildConsole() {
  const index = join(output, "index.html");
  if (isFresh(index, inputs)) return;
  const made = `${output}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  const result = await build({
    entryPoints: { console: join(source, "main.tsx"), key: join(source, "key-main.tsx") },
    outdir: made,
    bundle: true,
    minify: true,
    format: "esm",
    // Translations and rare pages load when they are needed. Each further `import()` makes a file for every set of modules that
    // it shares with others, and a browser fetches all of these at once.
    splitting: true,
    target: ["es2022", "chrome123", "firefox121", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [playgroundsPlugin(dialects)],
    metafile: true,
    logLevel: "warning",
  });
  const outputs = result.metafile.outputs;
  const loadsLater = (path) => /\/(?:languages\/|rare-pages\.)/.test(outputs[path].entryPoint ?? "");
  /** The files that a file needs at once, and the files that those need. */
  const importedBy = (path, found = new Set()) => {
    for (const { path: imported } of outputs[path].imports) {
      if (found.has(imported) || loadsLater(imported)) continue;
      found.add(imported);
      importedBy(imported, found);
    }
    return found;
  };
  const write = (file, title, entry) => {
    const [script, { cssBundle }] = Object.entries(outputs).find(
      ([, { entryPoint }]) => entryPoint?.endsWith(entry) === true,
    );
    const names = (paths) => paths.map((path) => basename(path));
    writeFileSync(
      join(made, file),
      page(title, names([cssBundle]), names([script]), names([...importedBy(script)])),
    );
  };
  writeFileSync(join(made, "icon.svg"), ICON);
  write("key.html", "Your API key · Polygate", "console/key-main.tsx");
  write("index.html", "Polygate", "console/main.tsx");
  // Replace the folder in one step, so that a running gateway never serves a partial build. Another process may do the same.
  rmSync(output, { recursive: true, force: true, maxRetries: 10 });
  try {
    renameSync(made, output);
  } catch (error) {
    // Another process has just put the same build there.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    rmSync(made, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildConsole();
