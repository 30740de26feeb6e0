// Starts the gateway's process, and prints its address once it serves, as the last and only message.
import { spawn } from "node:child_process";
import http from "node:http";
import https from "node:https";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import { json } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { onParentEnd } from "./parent-process.mjs";

const POLL_MS = 100;
const FLUSH_MS = 50;
const LOG_DELAY_MS = 200;
/** How long the provider may take to accept a connection before nothing is said about it. */
const CONNECT_MS = 1_000;
/** How many models of an engine a line of the banner lists. */
const MAX_LISTED_MODELS = 10;
/** How long a start may take without a word. */
const NOTE_MS = 10_000;
/** Maximum time to hold back the output of a program that is unreachable: its address may differ from ours. */
const MAX_HOLD_MS = 60_000;
/** Maximum number of held-back characters. They are printed if the program never serves. */
const MAX_HELD_CHARS = 200_000;
/** Line that both programs print once they listen. It ends with the port, which the system may have chosen. */
const LISTENING_LINE = /\b(?:Listening|Ready) on https?:\/\/\S*:(\d+)\/?\s/;
/** Warnings of the gateway. They are printed even while the output is held back. */
const WARNING = /^Warning: .+$/gm;
/** Longer than that line. */
const MAX_LINE_CHARS = 1_000;

/** The minimum Node version of wrangler and the tests. */
const MIN_NODE_VERSION = [22, 12];

/** Returns why a Node version is not supported; empty if it is. `version` is `process.versions.node`. */
export function nodeProblem(version) {
  const [major, minor] = version.split(".").map(Number);
  const fits = major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1]);
  const needed = `${MIN_NODE_VERSION.join(".")} or newer`;
  return fits
    ? ""
    : `Polygate needs Node ${needed}, and this is ${version}. "npm ci" brings one along; otherwise see https://nodejs.org.`;
}

/** Returns why a port is invalid, naming its source; empty if it is valid. With 0 the system chooses a port. */
export function portProblem(name, text) {
  const fits = /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
  return fits ? "" : `${name} is ${JSON.stringify(text)}: it must be a whole number from 0 to 65535`;
}

/** Returns an environment variable. Empty values count as missing and get the default. */
export function variable(name, unset) {
  return process.env[name]?.trim() || unset;
}

/** Returns the port of the option `--port`, else of the variable PORT. Prints an error and exits if it is invalid. */
export function portOrExit(option) {
  const [name, port] = option === undefined ? ["PORT", variable("PORT", "8787")] : ["--port", option];
  const problem = portProblem(name, port);
  if (problem === "") return port;
  console.error(problem);
  process.exit(1);
}

/** Whether another program listens on this port. Other reasons why it cannot be used are left to the program that starts. */
export function isPortTaken(host, port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code }) => resolve(code === "EADDRINUSE"));
    server.listen({ port: Number(port), ...(host === "*" ? {} : { host }) }, () =>
      server.close(() => resolve(false)),
    );
  });
}

/** Returns the variables that wrangler arguments set: `--var NAME:value` in all its forms. Later ones win. */
export function varsOf(args) {
  const vars = {};
  let followsVar = false;
  for (const arg of args) {
    const pair = arg.startsWith("--var=") ? arg.slice("--var=".length) : arg;
    if (arg === "--var") followsVar = true;
    else if (pair.startsWith("-")) followsVar = false;
    else if (followsVar || pair !== arg) {
      const at = pair.indexOf(":");
      if (at > 0) vars[pair.slice(0, at)] = pair.slice(at + 1);
    }
  }
  return vars;
}

/**
 * Describes the provider that the variables select. Without a base URL it is the sandbox, if there is one. `accounts`: see
 * {@link accountsNote}.
 */
export function providerName(vars, sandbox = true, accounts = null) {
  const { PROVIDER_BASE_URL: url, PROVIDER_DRIVER: driver = "sessions" } = vars;
  if (url) return `${url} (driver ${driver})`;
  if (!sandbox) return "none: set PROVIDER_BASE_URL";
  const count = accounts > 0 ? `, with ${accounts} ${accounts === 1 ? "account" : "accounts"}` : "";
  return `the sandbox${count}; see sandbox/README.md`;
}

/**
 * Describes the accounts of a development start; null where they need no explanation: the sandbox has them, and deployments
 * have none. `accounts`: how many the default provider has; null if that is unknown.
 */
export function accountsNote(vars, accounts = null) {
  const { PROVIDER_BASE_URL: url, PROVIDER_DRIVER: driver = "sessions", PROVIDER_TOKEN: token = "" } = vars;
  if (vars.GATEWAY_DEVELOPMENT !== "true") return null;
  if (driver === "sessions" && accounts === 0) {
    const example = url ? "" : ', for example one@sandbox.test with the password "sandbox"';
    return `none: requests fail until you add one in the console${example}`;
  }
  if (!url || vars.GATEWAY_CONFIG_JSON) return null;
  if (driver === "sessions") {
    const samples = "three named one, two and three@sandbox.test, until you change them in the console";
    return `${samples}: they sign in with the password "sandbox"`;
  }
  const hasToken = token !== "" && token !== "none";
  return hasToken
    ? "those in the console, if any: requests have the key in PROVIDER_TOKEN"
    : "none needed: requests go to the engine without a key (PROVIDER_TOKEN is not set)";
}

/** The IPv6 address in a URL's host; other hosts unchanged. */
const withoutBrackets = (host) => host.replace(/^\[(.*)\]$/, "$1");

/** Returns the address of a gateway on this machine. If it listens on all addresses, the loopback address is used. */
export function addressOf(scheme, host, port) {
  const bare = withoutBrackets(host);
  const reached = { "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1" }[bare] ?? bare;
  return `${scheme}://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/**
 * Formats the addresses and keys of a running gateway. `details`: further lines, each with name and value. `accounts`: see
 * {@link accountsNote}.
 */
export function banner(address, vars, details, accounts = null) {
  const development = vars.GATEWAY_DEVELOPMENT === "true";
  const admin = vars.ADMIN_KEY === "admin" ? "   (admin key: admin)" : "";
  const note = accountsNote(vars, accounts);
  const lines = [
    ["Polygate", address],
    ...(development ? [["API key", "sk-dev"]] : []),
    ["Console", `${address}/admin${admin}`],
    ["Provider", providerName(vars, development, accounts)],
    ...(note === null ? [] : [["Accounts", note]]),
    ...details,
  ];
  return `\n${lines.map(([name, text]) => `  ${name.padEnd(10)} ${text}`).join("\n")}\n`;
}

/** The line of the banner for a provider at whose address no program listens; none if one does, or if that is unknown. */
export function describeStoppedProvider({ PROVIDER_BASE_URL: address = "" }) {
  const url = URL.parse(address);
  if (url === null) return Promise.resolve([]);
  const { hostname, host, port, protocol } = url;
  return new Promise((resolve) => {
    const socket = connect(Number(port) || (protocol === "https:" ? 443 : 80), withoutBrackets(hostname));
    const end = (lines) => {
      socket.destroy();
      resolve(lines);
    };
    const line = ["Note", `no program listens at ${host} yet: requests fail until one does`];
    socket.once("connect", () => end([]));
    socket.once("error", ({ code }) => end(code === "ECONNREFUSED" ? [line] : []));
    socket.setTimeout(CONNECT_MS, () => end([]));
  });
}

/**
 * The line of the banner for an engine that has no list of models at its address, or not all models that PROVIDER_MODELS names;
 * none if all is well or the answer does not come in time. `address`: that of the gateway, which asks the engine.
 */
export async function describeEngineModels(address, vars) {
  const { PROVIDER_BASE_URL, PROVIDER_DRIVER = "sessions", PROVIDER_MODELS, ADMIN_KEY } = vars;
  if (!PROVIDER_BASE_URL || PROVIDER_DRIVER === "sessions" || !ADMIN_KEY) return [];
  const { status, body } = await getFromAdmin(address, "/admin/provider/models", ADMIN_KEY);
  if (status === 404 && body.detail) return [["Note", body.detail]];
  const { models = [] } = body;
  if (models.length === 0) return [];
  const names = new Set(Object.values(parseObject(PROVIDER_MODELS)));
  const missing = [...names].filter((name) => !models.some((listed) => isSameModel(name, listed)));
  if (missing.length === 0) return [];
  const list =
    models.slice(0, MAX_LISTED_MODELS).join(", ") + (models.length > MAX_LISTED_MODELS ? ", …" : "");
  return [["Note", `PROVIDER_MODELS names ${missing.join(", ")}, but the engine lists ${list}`]];
}

/** Whether an engine may know a listed model by a name: the name itself, or one without tag, date or folder. */
function isSameModel(name, listed) {
  if (listed === name || listed.endsWith(`/${name}`)) return true;
  return listed.startsWith(name) && /^(?::latest$|[-@]\d)/.test(listed.slice(name.length));
}

/** The object in a JSON text; an empty one if there is none. */
function parseObject(text = "{}") {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The banner, with a note if the provider's program does not run, lacks a model, or there is no account. */
export async function startMessage(address, vars, details) {
  const {
    GATEWAY_DEVELOPMENT: development,
    PROVIDER_DRIVER: driver = "sessions",
    ADMIN_KEY: adminKey,
  } = vars;
  const [stopped, models, accounts] = await Promise.all([
    describeStoppedProvider(vars),
    describeEngineModels(address, vars),
    development === "true" && driver === "sessions" ? countAccounts(address, adminKey) : null,
  ]);
  return banner(address, vars, [...details, ...stopped, ...models], accounts);
}

/** Sends a GET request. Self-signed certificates are accepted, because this script started the gateway. */
function get(url, headers = {}) {
  const { get: send } = url.startsWith("https:") ? https : http;
  return new Promise((resolve, reject) => {
    const request = send(url, { headers, rejectUnauthorized: false, timeout: 2_000 }, resolve);
    request.on("timeout", () => request.destroy());
    request.on("error", reject);
  });
}

/** Reads the number of accounts of the default provider; null if the request fails. */
async function countAccounts(address, adminKey) {
  const { body } = await getFromAdmin(address, "/admin/providers/default", adminKey);
  return body.accounts ?? null;
}

/** Sends a GET request to the admin API. The status is 0 and the body empty if no JSON comes in time. */
async function getFromAdmin(address, path, adminKey) {
  try {
    const response = await get(address + path, { authorization: `Bearer ${adminKey}` });
    return { status: response.statusCode, body: Object(await json(response)) };
  } catch {
    return { status: 0, body: {} };
  }
}

/** Whether the gateway responds. */
async function answers(address) {
  try {
    const response = await get(`${address}/healthz`);
    response.resume();
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

/**
 * Runs a program until it ends, and exits with it. Holds back its output until it serves, then prints the text that `formatMessage`
 * promises for its address, then passes on all further output. Held-back output is printed only if the program ends early,
 * or if it serves nothing for `holdMs` milliseconds. After `noteMs` one line says that it is still starting.
 *
 * Only the program itself reports that it listens, and on which port; `addressAt` returns the address for it. A response at
 * an expected address could come from another program. With a quiet log level the program reports nothing: then any
 * response at `quietPort` counts. `filter` changes pieces of the output before they are printed.
 */
export function launch(name, command, args, options, addressAt, formatMessage, settings = {}) {
  const { holdMs = MAX_HOLD_MS, noteMs = NOTE_MS, quietPort, filter = (piece) => piece } = settings;
  const child = spawn(command, args, { ...options, stdio: ["inherit", "pipe", "pipe"] });
  let held = [];
  let heldLength = 0;
  const printHeldOutput = () => {
    for (const [stream, chunk] of held ?? []) stream.write(chunk);
    held = null;
  };
  let listens = false;
  const findListeningLine = (text) => {
    const port = LISTENING_LINE.exec(stripVTControlCharacters(text))?.[1];
    if (port === undefined || listens) return;
    listens = true;
    void printMessageOnceServing(addressAt(port));
  };
  const forwardOutput = (from, to) => {
    let recentOutput = "";
    from.on("data", (chunk) => {
      // The line may arrive in several chunks.
      recentOutput += chunk;
      if (!listens) findListeningLine(recentOutput);
      recentOutput = recentOutput.slice(-MAX_LINE_CHARS);
      const shown = filter(chunk);
      if (held === null) return void to.write(shown);
      held.push([to, shown]);
      heldLength += chunk.length;
      while (heldLength > MAX_HELD_CHARS && held.length > 1) heldLength -= held.shift()[1].length;
    });
  };

  let ended = false;
  const holdTimer = setTimeout(printHeldOutput, holdMs).unref();
  const noteTimer = setTimeout(() => console.log("Still starting ..."), noteMs).unref();
  const printMessageOnceServing = async (address) => {
    while (!ended && !(await answers(address))) await new Promise((done) => setTimeout(done, POLL_MS));
    const message = await formatMessage(address);
    // Also hold back the log lines that our own requests cause.
    await new Promise((done) => setTimeout(done, LOG_DELAY_MS));
    if (ended) return;
    const warnings =
      (held ?? [])
        .map(([, chunk]) => String(chunk))
        .join("")
        .match(WARNING) ?? [];
    held = null;
    clearTimeout(holdTimer);
    clearTimeout(noteTimer);
    for (const warning of warnings) console.error(warning);
    console.log(message);
  };
  forwardOutput(child.stdout, process.stdout);
  forwardOutput(child.stderr, process.stderr);
  if (quietPort !== undefined) {
    listens = true;
    void printMessageOnceServing(addressAt(quietPort));
  }

  // A terminal sends Ctrl+C to both processes. Other signals reach only this process, so forward them.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  // A signal to npm or npx alone does not reach their scripts. A shell may end before the program that it started.
  if (process.env.npm_command !== undefined) onParentEnd(() => child.kill("SIGTERM"));
  child.on("error", (error) => {
    ended = true;
    console.error(`${name} could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    ended = true;
    // The last output may still be in the pipe, which grandchildren may keep open.
    setTimeout(() => {
      printHeldOutput();
      process.exit(code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 0));
    }, FLUSH_MS);
  });
}
