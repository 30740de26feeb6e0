// Builds web pages from the documents (`npm run docs`) into dist/docs, for any static server. With `-- --serve` it also
// serves them on this machine. Installs VitePress on the first run, in a folder that git ignores.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildOpenApiDocument } from "../../src/core/routing/openapi.ts";
import { loadRouteGroups } from "../../src/routes.ts";
import { cacheFolder, root } from "../development.mjs";
import { referencePages } from "./reference.mjs";

const here = import.meta.dirname;
const folder = join(cacheFolder, "site");
const source = join(folder, "source");
const output = join(root, "dist", "docs");

/** Installs the packages of the lock file, unless they are installed. */
function install() {
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  const stamp = join(folder, "installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.log("Installing VitePress (once) ...");
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(folder, name));
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
  writeFileSync(stamp, lock);
}

/**
 * Converts a document for the site: removes comments, converts pictures to Markdown, and removes links to files that only
 * the repository has.
 */
const shown = (text) =>
  text
    .replaceAll(/^ *<!--.*-->\n/gm, "")
    .replaceAll(/(?<!!)\[([^\]]+)\]\((?![a-z]+:)(?!#)(?![^)]*\.md)(?![^)]*decisions\/\))[^)]+\)/g, "$1")
    .replaceAll(/<img src="([^"]+)"[^>]*?alt="([^"]*)"[^>]*>/g, "![$2]($1)");

function write(path, text) {
  mkdirSync(dirname(join(source, path)), { recursive: true });
  writeFileSync(join(source, path), text);
}

function writeDocuments() {
  const inFolders = ["docs", "bench/results"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const others = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "sandbox/README.md",
    "bench/README.md",
  ];
  for (const path of [...others, ...inFolders.filter((name) => name.endsWith(".md"))]) {
    write(path, shown(readFileSync(join(root, path), "utf8")));
  }
  cpSync(join(root, "docs", "pictures"), join(source, "docs", "pictures"), { recursive: true });
}

function writeDecisions() {
  const pages = readdirSync(join(root, "docs", "decisions"))
    .sort()
    .map((file) => {
      const [, title = file] =
        /^# (.+)$/m.exec(readFileSync(join(root, "docs", "decisions", file), "utf8")) ?? [];
      return { name: file.replace(/\.md$/, ""), title };
    });
  const list = pages.map(({ name, title }) => `- [${title}](${name}.md)`).join("\n");
  write("docs/decisions/index.md", `# Decisions\n\n${list}\n`);
  write("docs/decisions/pages.json", JSON.stringify(pages));
}

async function writeReference() {
  const pages = referencePages(buildOpenApiDocument(await loadRouteGroups()));
  for (const { name, text } of pages) write(`reference/${name}.md`, text);
  write("reference/pages.json", JSON.stringify(pages.map(({ name, title }) => ({ name, title }))));
}

install();
rmSync(source, { recursive: true, force: true });
mkdirSync(source, { recursive: true });
cpSync(join(here, "home.md"), join(source, "index.md"));
writeDocuments();
writeDecisions();
await writeReference();
mkdirSync(join(source, ".vitepress"), { recursive: true });
// Otherwise VitePress's bundler would use the project's tsconfig.json, which it does not understand.
writeFileSync(join(folder, "tsconfig.json"), "{}");
for (const name of ["config.mjs", "sidebar.mjs"]) cpSync(join(here, name), join(source, ".vitepress", name));
mkdirSync(join(source, ".vitepress", "theme"));
cpSync(join(here, "theme.mjs"), join(source, ".vitepress", "theme", "index.mjs"));
cpSync(join(here, "theme.css"), join(source, ".vitepress", "theme", "style.css"));

const vitepress = join(folder, "node_modules", "vitepress", "bin", "vitepress.js");
const command = process.argv.includes("--serve") ? ["dev", source, "--host", "127.0.0.1"] : ["build", source];
execFileSync(process.execPath, [vitepress, ...command], {
  cwd: folder,
  stdio: "inherit",
  env: { ...process.env, SITE_OUTPUT: output },
});
if (command[0] === "build") console.log(`\n${output}/index.html`);
