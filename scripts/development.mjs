import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's root folder, without a trailing slash. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Folder of browsers and other files that can be generated again. */
export const cacheFolder = join(root, ".cache");

/** Files that the gateway serves or reads on demand. The build generates them. */
export const assetsFolder = join(root, "dist", "assets");

/** Variables of development and tests. Deployments do not have them. */
export const developmentVars = {
  ADMIN_KEY: "admin",
  GATEWAY_DEVELOPMENT: "true",
  GATEWAY_SINGLE_PROCESS: "true",
};

/** Environment for wrangler and Miniflare: no telemetry, no network, and the project's cache folder. */
export const quietEnvironment = {
  XDG_CACHE_HOME: cacheFolder,
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** File in which a process lists the private hosts that its browsers may reach. */
export const privateHostsFile = (pid) => join(cacheFolder, "private-hosts", String(pid));

/**
 * Allows the browsers that Miniflare starts in this process to reach these `host:port` pairs, separated by commas. The
 * variable PAGE_PRIVATE_HOSTS does the same for the page service.
 */
export function allowPrivateHosts(hosts) {
  const file = privateHostsFile(process.pid);
  mkdirSync(dirname(file), { recursive: true });
  // Delete files of ended processes, because process ids are reused.
  for (const name of readdirSync(dirname(file))) {
    if (!isRunning(Number(name))) rmSync(join(dirname(file), name), { force: true });
  }
  writeFileSync(file, hosts);
}

/**
 * Writes `.dev.wrangler.toml`: the deployment's configuration with a binding to the mock provider, which deployments do not
 * have. The file is in the project's root, because its paths are relative to it. Returns its path.
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

/** Whether a process with this id exists. */
export function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
