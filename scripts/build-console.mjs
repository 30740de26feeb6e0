// Builds the admin console into dist/console, from where the gateway serves it.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "./development.mjs";
import { isFresh } from "./freshness.mjs";

const source = join(root, "src", "console");
const output = join(root, "dist", "console");

/** The page that loads the console, or says that this checkout has none. */
const page = (body) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Polygate</title>
${body}
</html>
`;

/** Builds the console unless what is there is newer than its sources. */
export async function buildConsole() {
  const entry = join(source, "main.tsx");
  const index = join(output, "index.html");
  if (!existsSync(entry)) {
    if (existsSync(index)) return;
    mkdirSync(output, { recursive: true });
    writeFileSync(index, page("</head>\n<body><h1>Polygate</h1><p>This build has no console.</p></body>"));
    return;
  }
  if (isFresh(index, [source, import.meta.filename, join(root, "package.json")])) return;
  mkdirSync(output, { recursive: true });
  const result = await build({
    entryPoints: { console: entry },
    outdir: output,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "assets/[name]-[hash]",
    metafile: true,
    logLevel: "warning",
  });
  const files = Object.keys(result.metafile.outputs).map((path) => path.replace(/^.*dist\/console\//, "/"));
  const styles = files.filter((path) => path.endsWith(".css"));
  const scripts = files.filter((path) => path.endsWith(".js"));
  const head = [
    ...styles.map((path) => `<link rel="stylesheet" href="${path}">`),
    ...scripts.map((path) => `<script type="module" src="${path}"></script>`),
  ];
  writeFileSync(index, page(`${head.join("\n")}\n</head>\n<body><div id="app"></div></body>`));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildConsole();
