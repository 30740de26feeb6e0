// Runs the gateway and the stand-in provider on this machine. Arguments go to `wrangler dev`, where a later one wins.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { developmentVars, quietEnvironment, root, writeDevelopmentConfig } from "./development.mjs";
import { addressOf, banner, launch, nodeProblem, portOrExit, varsOf } from "./launch.mjs";

const userArguments = process.argv.slice(2);

/** The value of `--name value` or `--name=value` among the user's arguments. */
function option(name) {
  const at = userArguments.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  if (at === -1) return undefined;
  const arg = userArguments[at];
  return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : userArguments[at + 1];
}

const inProject = (...parts) => join(root, "node_modules", ...parts);

// npm may run under an older Node than wrangler needs; the project brings its own.
const ownNode = inProject(".bin", process.platform === "win32" ? "node.exe" : "node");
const node = existsSync(ownNode) ? ownNode : process.execPath;
const problem = node === process.execPath ? nodeProblem(process.versions.node) : "";
if (problem !== "") {
  console.error(problem);
  process.exit(1);
}

const port = portOrExit(option("port"));

/**
 * What the program is going to say of these variables, in a sentence; empty: nothing. Wrangler would bury it in a stack. A Node that
 * does not read TypeScript leaves it to the program.
 */
async function variableProblem(given) {
  // Whoever sets none does not wait for the rules to be loaded.
  if (Object.keys(given).length === 0 || !process.features.typescript) return "";
  const { parseVariables, VariableError } = await import("../src/platform/variables.ts");
  const { DRIVER_ALIASES, DRIVER_NAMES } = await import("../src/provider/drivers.ts");
  try {
    parseVariables(given, { drivers: DRIVER_NAMES, driverAliases: DRIVER_ALIASES });
    return "";
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    return error.message;
  }
}

// Wrangler reads this file, too.
const varsFile = join(root, ".dev.vars");
const ownVars = existsSync(varsFile) ? parseEnv(readFileSync(varsFile, "utf8")) : {};
const userVars = varsOf(userArguments);
const wrongVariable = await variableProblem({ ...ownVars, ...userVars });
if (wrongVariable !== "") {
  console.error(wrongVariable);
  process.exit(1);
}

const host = option("ip") ?? "127.0.0.1";
/** Wrangler does not even tell that it is ready. */
const isQuiet = ["warn", "error", "none"].includes(option("log-level") ?? process.env.WRANGLER_LOG ?? "");
const vars = Object.entries(developmentVars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);

// The browser's filter learns from the environment what the page service learns from its variable.
const { PAGE_PRIVATE_HOSTS: privateHosts } = userVars;

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
      ...(privateHosts !== undefined && { PAGE_PRIVATE_HOSTS: privateHosts }),
    },
  },
  (listening) => addressOf(option("local-protocol") ?? "http", host, listening),
  (address) => banner(address, { ...ownVars, ...developmentVars, ...userVars }, []),
  isQuiet && port !== "0" ? { quietPort: port } : {},
);
