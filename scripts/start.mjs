// Runs the gateway and the mock provider on this machine. Arguments are passed to `wrangler dev`, where a later one wins.
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import { developmentVars, quietEnvironment, root, writeDevelopmentConfig } from "./development.mjs";
import { addressOf, isPortTaken, launch, nodeProblem, portOrExit, startMessage, varsOf } from "./launch.mjs";
import { describeMissingFonts } from "./missing-fonts.mjs";
import { toWranglerArguments } from "./options.mjs";
import { lockState } from "./state-lock.mjs";
import { unknownHostFilter } from "./unknown-host-filter.mjs";

const userArguments = toWranglerArguments(process.argv.slice(2));

/** Returns the value of `--name value` or `--name=value` in the user's arguments. */
function option(name) {
  const at = userArguments.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  if (at === -1) return undefined;
  const arg = userArguments[at];
  return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : userArguments[at + 1];
}

const inProject = (...parts) => join(root, "node_modules", ...parts);

// The Node that runs npm may be too old for wrangler. The project has its own.
const ownNode = inProject(".bin", process.platform === "win32" ? "node.exe" : "node");
const node = existsSync(ownNode) ? ownNode : process.execPath;
const problem = node === process.execPath ? nodeProblem(process.versions.node) : "";
if (problem !== "") {
  console.error(problem);
  process.exit(1);
}

const port = portOrExit(option("port"));

/**
 * Returns the program's error message for these variables; empty if they are valid. Wrangler would print it within a stack
 * trace. If Node cannot read TypeScript, the program itself reports the error.
 */
async function variableProblem(given) {
  // Skip loading the rules if no variable is set.
  if (Object.keys(given).length === 0 || !process.features.typescript) return "";
  const { assertProviderAddress, parseVariables, VariableError } = await import(
    "../src/core/variables/parse-variables.ts"
  );
  const { DRIVER_ALIASES, DRIVER_NAMES } = await import("../src/gateway/providers/drivers.ts");
  const { describeUnknownVariables } = await import("../src/core/variables/unknown-variables.ts");
  const options = { drivers: DRIVER_NAMES, driverAliases: DRIVER_ALIASES };
  try {
    assertProviderAddress(parseVariables(given, options), DRIVER_NAMES);
    for (const warning of describeUnknownVariables(Object.keys(given), options, { isOwn: true }))
      console.warn(`Warning: ${warning}`);
    return "";
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    return error.message;
  }
}

// Wrangler also reads this file.
const varsFile = join(root, ".dev.vars");
const ownVars = existsSync(varsFile) ? parseEnv(readFileSync(varsFile, "utf8")) : {};
const userVars = varsOf(userArguments);
const wrongVariable = await variableProblem({ ...ownVars, ...userVars });
if (wrongVariable !== "") {
  console.error(wrongVariable);
  process.exit(1);
}

const host = option("ip") ?? "127.0.0.1";
/** With these log levels wrangler does not report that it is ready. */
const isQuiet = ["warn", "error", "none"].includes(option("log-level") ?? process.env.WRANGLER_LOG ?? "");
const vars = Object.entries(developmentVars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);

// The browser's filter reads this list from the environment; the page service reads it from its variable.
const { PAGE_PRIVATE_HOSTS: privateHosts } = userVars;

// Wrangler's processes run in the project's root.
const stateFolder = resolve(root, option("persist-to") ?? join(".wrangler", "state"));
const { holder, isTakenOver } = lockState(
  stateFolder,
  addressOf(option("local-protocol") ?? "http", host, port),
);
if (holder !== null) {
  const folder = relative(process.cwd(), stateFolder) || stateFolder;
  console.error(
    `Another npm start (process ${holder.pid}, at ${holder.address}) uses the stored state in ${folder}. ` +
      "End that process, or start with a folder and a port of your own: npm start -- --persist-to FOLDER --port 8788",
  );
  process.exit(1);
}
// The processes of a killed start end within a second.
if (isTakenOver) await sleep(1_500);
if (await isPortTaken(host, port)) {
  console.error(
    `Another program listens on port ${port}. Choose another one: npm start -- --port ${port === "8788" ? 8789 : 8788}`,
  );
  process.exit(1);
}
const endWithParent = `--import=${pathToFileURL(join(root, "scripts", "end-with-parent.mjs"))}`;

launch(
  "wrangler",
  node,
  [
    inProject("wrangler", "bin", "wrangler.js"),
    "dev",
    ...["-c", writeDevelopmentConfig(), "-c", join(root, "sandbox", "wrangler.toml")],
    ...vars,
    ...(option("port") === undefined ? ["--port", port] : []),
    ...userArguments,
  ],
  {
    cwd: root,
    env: {
      ...process.env,
      ...quietEnvironment,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} ${endWithParent}`.trim(),
      ...(privateHosts !== undefined && { PAGE_PRIVATE_HOSTS: privateHosts }),
    },
  },
  (listening) => addressOf(option("local-protocol") ?? "http", host, listening),
  (address) => startMessage(address, { ...ownVars, ...developmentVars, ...userVars }, describeMissingFonts()),
  { filter: unknownHostFilter(), ...(isQuiet && port !== "0" && { quietPort: port }) },
);
