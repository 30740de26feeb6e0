import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project, without a slash at its end. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Where browsers and other things that can be made again are kept. */
export const cacheFolder = join(root, ".cache");

/** What is served beside the program, or read by it when it is needed: made by the build. */
export const assetsFolder = join(root, "dist", "assets");

/** Variables that development and tests run with; the deployment has none of them. */
export const developmentVars = {
  ADMIN_KEY: "admin",
  GATEWAY_DEVELOPMENT: "true",
  GATEWAY_SINGLE_PROCESS: "true",
};

/** The environment for wrangler and Miniflare: no telemetry, no network, and our own cache folder. */
export const quietEnvironment = {
  XDG_CACHE_HOME: cacheFolder,
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** Where a process names the private hosts that the browsers which it starts may reach. */
export const privateHostsFile = (pid) => join(cacheFolder, "private-hosts", String(pid));

/**
 * Lets the browsers that Miniflare starts in this process reach these `host:port` pairs, separated by commas, as the
 * variable PAGE_PRIVATE_HOSTS lets the page service.
 */
export function allowPrivateHosts(hosts) {
  const file = privateHostsFile(process.pid);
  mkdirSync(dirname(file), { recursive: true });
  // The number of a process that is gone may be another one's some day.
  for (const name of readdirSync(dirname(file))) {
    if (!isRunning(Number(name))) rmSync(join(dirname(file), name), { force: true });
  }
  writeFileSync(file, hosts);
}

/**
 * Writes `.dev.wrangler.toml`: the deployment's configuration and a binding to the stand-in provider, which no
 * deployment has. It stands in the project's root, because paths in it are relative to it. Returns its path.
 */
export function writeDevelopmentConfig() {
  const path = join(root, ".dev.wrangler.toml");
  const deployment = readFileSync(join(root, "wrangler.toml"), "utf8");
  const text = `# Made from wrangler.toml by scripts/development.mjs; edit that file instead.
${deployment}
[[services]]
binding = "SANDBOX"
service = "polygate-sandbox"
`;
  if (readIfExists(path) !== text) writeFileSync(path, text);
  return path;
}

function readIfExists(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
