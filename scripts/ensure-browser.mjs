// Gives Miniflare's Browser Rendering and the browser tests a Chromium without any help of the system.
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

/** Flags that keep a browser quiet and locked down; Miniflare and Playwright add their own behind them. */
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
  // Without a graphics card the emulation of one takes a hundred times as long as drawing without it.
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
 * Pages may not have the browser load others ahead, which no interception sees. There is no switch for that; this leaves no room for any. The last such
 * flag counts, so it comes behind those that Miniflare and Playwright add.
 */
const LAST_FLAG =
  "--enable-features=NoStatePrefetchHoldback,PrefetchMultipleActiveSetSizeLimitForBase:prefetch_multiple_active_set_size_limit_for_base_value/0";

/** The browser as it is; Miniflare's goes through the filter. */
const unfiltered = join(cacheFolder, "browser");
const egress = fileURLToPath(new URL("browser-egress.mjs", import.meta.url));

const SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * The browser of the tests: an absolute path, or null when this machine has none. It reaches every address, unlike the one that
 * Miniflare starts. The environment variable BROWSER_EXECUTABLE goes before all.
 */
export function browserExecutable() {
  const named = process.env.BROWSER_EXECUTABLE;
  if (named && isExecutable(named)) return named;
  return isExecutable(unfiltered) ? unfiltered : systemBrowser();
}

/**
 * Puts a browser where Miniflare looks for the one that it would download. Quick when that has been done. Returns the
 * path of the browser, or null with a hint printed when there can be none; it does not throw.
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
    // Without the marker Miniflare would throw the folder away when the browser once fails to start.
    writeFileSync(place.marker, "");
    return place.executable;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.warn(`No browser for screenshots: ${reason}.`);
    console.warn("Everything else works. To name one yourself, set BROWSER_EXECUTABLE to its path.");
    return browserExecutable();
  }
}

/** Where this version of Miniflare keeps its Chrome; null on systems for which it downloads one by itself. */
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

/** False when the browser is missing, or was set up by another version of this script or in another folder. */
function isCurrent({ executable, marker }) {
  if (!existsSync(marker) || !isExecutable(executable) || !isExecutable(unfiltered)) return false;
  if (readFileSync(executable, "utf8") !== filtered()) return false;
  const text = readFileSync(unfiltered, "utf8");
  const target = text.match(/exec '([^']+)'/)?.[1];
  const hasFlags = text.includes(FLAGS.join(" ")) && text.includes(LAST_FLAG);
  return hasFlags && target !== undefined && isExecutable(target);
}

/** Unpacks the browser of the package, which brings all its libraries but the C library. Returns its wrapper. */
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

/** The package's own configuration knows the folders of a Lambda only; without a font no page has any text. */
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

/** The package unpacks into the folder for temporary files, and its libraries only where it believes to be in a Lambda. */
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

/** Miniflare's browser: the same, behind the filter, which needs the project's own Node. */
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
