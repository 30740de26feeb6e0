#!/usr/bin/env node
// The command of the package (`npx polygate`). It runs the gateway on Deno, which comes with the package.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { addressOf, launch, portOrExit, startMessage, variable } from "../scripts/launch.mjs";

const folder = fileURLToPath(new URL("..", import.meta.url));
const program = join(folder, "dist", "program", "deno", "server.js");

const HELP = `
Starts Polygate: a model gateway and page service.

  npx polygate [--port 8787] [--host 127.0.0.1] [--data polygate-data]

  --port 8787            the port; also the variable PORT
  --host 127.0.0.1       the address to listen on; also the variable HOST
  --data FOLDER          where the stored state is (default: polygate-data); also the variable DATA_DIR
  --version              the version
  --help                 this help

Without the variable ADMIN_KEY this is a trial for this machine: API key sk-dev, admin key admin, and a sandbox answers unless PROVIDER_BASE_URL is set.
With ADMIN_KEY it is a deployment without known keys: sign in at /admin, and add accounts and API keys.
Environment variables are those of a deployment, see docs/variables.md in the repository.
`;

const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Reads the options. Prints help and exits if one is unknown. */
function options() {
  try {
    return parseArgs({
      options: {
        port: { type: "string" },
        host: { type: "string", default: variable("HOST", "127.0.0.1") },
        data: { type: "string", default: variable("DATA_DIR", "polygate-data") },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    }).values;
  } catch (error) {
    end(`${error.message}\n${HELP}`, 2);
  }
}

function end(said, code) {
  (code === 0 ? console.log : console.error)(said.trim());
  process.exit(code);
}

/** Returns the Deno of the package, otherwise the one on the path. */
function deno() {
  const require = createRequire(import.meta.url);
  try {
    const own = join(
      dirname(require.resolve("deno/package.json")),
      process.platform === "win32" ? "deno.exe" : "deno",
    );
    // Without install scripts npm has not installed it yet.
    return existsSync(own) ? own : require("deno/install_api.cjs").runInstall();
  } catch {
    return "deno";
  }
}

const { port: portOption, host, data, help, version: tellVersion } = options();
if (help) end(HELP, 0);
if (tellVersion) end(version, 0);
const port = portOrExit(portOption);

const trial = (process.env.ADMIN_KEY ?? "") === "";
const local = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(host);
if (trial && !local) {
  end(`Others can reach ${host}, and everybody knows the keys of a trial: set ADMIN_KEY.`, 1);
}

if (!existsSync(program)) end(`${program} is missing: "npm run build" makes it.`, 1);

const env = {
  DENO_NO_UPDATE_CHECK: "1",
  ...process.env,
  ...(trial && { ADMIN_KEY: "admin", GATEWAY_DEVELOPMENT: "true" }),
  DATA_DIR: data,
};

launch(
  "Deno",
  deno(),
  ["serve", "-A", "--config", join(folder, "deno.json"), "--host", host, "--port", port, program],
  { env },
  (listening) => addressOf("http", host, listening),
  (address) => startMessage(address, env, [["Data", data]]),
);
