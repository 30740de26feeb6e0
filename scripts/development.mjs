import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project, without a slash at its end. */
export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Where browsers and other things that can be made again are kept. */
export const cacheFolder = join(root, ".cache");

/** Variables that development and tests run with; the deployment has none of them. */
export const developmentVars = { ADMIN_KEY: "admin", GATEWAY_DEVELOPMENT: "true" };

/** The environment for wrangler and Miniflare: no telemetry, no network, and our own cache folder. */
export const quietEnvironment = {
  XDG_CACHE_HOME: cacheFolder,
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

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
