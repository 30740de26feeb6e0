// The options of the commands that start the gateway: the same names for each of them.

/** Options of `wrangler dev` that `npm start` passes on, with `--no-` before those that are switches. */
const WRANGLER_OPTIONS = new Set([
  ...["port", "ip", "var", "env", "env-file", "persist-to", "log-level", "define", "compatibility-date"],
  ...["inspector-port", "inspector-ip", "local-protocol", "https-key-path", "https-cert-path", "tunnel-name"],
  ...["minify", "test-scheduled", "live-reload", "show-interactive-dev-session", "remote", "local", "tunnel"],
]);

const START_HELP = `
Starts Polygate with wrangler dev: a model gateway and page service.

  npm start -- [options]

  --port 8787            the port; also the variable PORT
  --host 127.0.0.1       the address to listen on
  --persist-to FOLDER    where the stored state is (default: .wrangler/state)
  --var NAME:VALUE       a variable of the deployment, see docs/variables.md; may be repeated
  --help                 this help

Without --var PROVIDER_BASE_URL a sandbox answers. API key: sk-dev, admin key: admin.
Other options of wrangler dev, such as --log-level and --inspector-port, work too.
`;

const DENO_HELP = `
Starts Polygate on Deno: a model gateway and page service.

  npm run start:deno -- [options]

  --port 8787            the port; also the variable PORT
  --host 127.0.0.1       the address to listen on; also the variable HOST
  --data FOLDER          where the stored state is (default: data); also the variable DATA_DIR
  --help                 this help

Environment variables are those of a deployment, see docs/variables.md. Without PROVIDER_BASE_URL a sandbox answers. API key: sk-dev, admin key: admin.
`;

/** The names of the options in the arguments, without dashes and values. */
const namesIn = (args) =>
  args.filter((arg) => arg.startsWith("-")).map((arg) => arg.replace(/^--?/, "").split("=", 1)[0]);

/** Options that have no value. */
const SWITCHES = new Set([
  ...["minify", "test-scheduled", "live-reload", "show-interactive-dev-session", "remote", "local", "tunnel"],
]);

/**
 * Returns what is wrong with the arguments of a start command; empty if they are valid.
 *
 * @param {string} command such as `npm start`
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} env npm keeps options there that stand before `--`
 */
export function argumentProblem(command, args, env) {
  const swallowed = ["port", "host", "ip", "var", "data", "persist_to"].find(
    (name) => env[`npm_config_${name}`] !== undefined,
  );
  if (swallowed !== undefined) {
    const option = `--${swallowed.replace("_", "-")}`;
    return `npm kept ${option} for itself. Write "--" before the options: ${command} -- ${option} …`;
  }
  /** The option whose value comes next; `var` may have several. */
  let open = "";
  let hasValue = true;
  for (const arg of [...args, "--"]) {
    if (!arg.startsWith("-")) {
      if (open === "")
        return `${JSON.stringify(arg)} is no option. Options begin with --, such as --port 8787.`;
      if (open === "var" && !/^[^:=]+:/.test(arg)) return variableProblem(arg);
      hasValue = true;
      if (open !== "var") open = "";
      continue;
    }
    if (!hasValue)
      return `The option --${open} needs a value${open === "var" ? ", such as NAME:VALUE" : ""}.`;
    const [name, value] = arg.replace(/^--?/, "").split(/=(.*)/s);
    if (value !== undefined) {
      if (name === "var" && !/^[^:=]+:/.test(value)) return variableProblem(value);
      if (value === "") return `The option --${name} needs a value.`;
    }
    const takesValue = value === undefined && name !== "" && !SWITCHES.has(name.replace(/^no-/, ""));
    open = takesValue || (name === "var" && value !== undefined) ? name : "";
    hasValue = !takesValue;
  }
  return "";
}

function variableProblem(text) {
  const [name, value = "VALUE"] = text.split(/=(.*)/s);
  // The message hides the value, because it may be a secret.
  return `--var ${name}${value === "VALUE" ? "" : "=…"} sets no variable: write --var ${name}:VALUE, with a colon.`;
}

/** Prints the help of a start command and exits: with 2 if there is a problem, which is printed first. */
export function exitWithHelp(help, problem = "") {
  if (problem === "") console.log(help.trim());
  else console.error(`${problem}\n\n${help.trim()}`);
  process.exit(problem === "" ? 0 : 2);
}

/**
 * Checks the arguments of `npm start`. Prints help and exits if they ask for it, or if an option is unknown.
 *
 * @param {readonly string[]} args
 * @returns {string[]} the arguments for `wrangler dev`
 */
export function toWranglerArguments(args) {
  const names = namesIn(args);
  if (names.includes("help") || names.includes("h")) exitWithHelp(START_HELP);
  const unknown = names.find((name) => name !== "host" && !WRANGLER_OPTIONS.has(name.replace(/^no-/, "")));
  if (unknown !== undefined) exitWithHelp(START_HELP, `There is no option --${unknown}.`);
  const problem = argumentProblem("npm start", args, process.env);
  if (problem !== "") exitWithHelp(START_HELP, problem);
  return args.map((arg) => arg.replace(/^--host(?==|$)/, "--ip"));
}

/**
 * Reads the arguments of `npm run start:deno`. Prints help and exits if they ask for it, or if one is unknown.
 *
 * @param {readonly string[]} args
 * @returns {Partial<Record<"port" | "host" | "data", string>>}
 */
export function readDenoArguments(args) {
  const names = namesIn(args);
  if (names.includes("help") || names.includes("h")) exitWithHelp(DENO_HELP);
  const unknown = names.find((name) => !["port", "host", "data"].includes(name));
  if (unknown === "var")
    exitWithHelp(DENO_HELP, "There is no option --var on Deno: write NAME=VALUE npm run start:deno.");
  if (unknown !== undefined) exitWithHelp(DENO_HELP, `There is no option --${unknown}.`);
  const problem = argumentProblem("npm run start:deno", args, process.env);
  if (problem !== "") exitWithHelp(DENO_HELP, problem);
  const values = {};
  for (let at = 0; at < args.length; at++) {
    const [name, value] = args[at].replace(/^--?/, "").split(/=(.*)/s);
    values[name] = value ?? args[++at];
  }
  return values;
}
