// Starts the program that serves, and says where it is once it is there: last, and alone.
import { spawn } from "node:child_process";
import http from "node:http";
import https from "node:https";
import { constants } from "node:os";
import { stripVTControlCharacters } from "node:util";

const POLL_MS = 100;
const FLUSH_MS = 50;
const QUIET_MS = 200;
/** How long what a program says is held back when it cannot be reached: its address may be another than we think. */
const HOLD_MS = 20_000;
/** Characters of what a program has said before it was there; told when it never is. */
const KEPT = 200_000;
/** What both programs say once they listen; the line ends in the port, which the system may have chosen. */
const LISTENS = /\b(?:Listening|Ready) on https?:\/\/\S*:(\d+)\/?\s/;
/** What the gateway's own warnings look like; they are shown although what a start says is held back. */
const WARNING = /^Warning: .+$/gm;
/** More characters than that line has. */
const LINE = 1_000;

/** The oldest Node that wrangler and the tools run on. */
const NEEDED = [22, 12];

/** Why a version of Node cannot be used, in a sentence; empty: it can. `version` is `process.versions.node`. */
export function nodeProblem(version) {
  const [major, minor] = version.split(".").map(Number);
  const fits = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  const needed = `${NEEDED.join(".")} or newer`;
  return fits
    ? ""
    : `Polygate needs Node ${needed}, and this is ${version}. "npm ci" brings one along; otherwise see https://nodejs.org.`;
}

/** What is wrong with a port, in a sentence that names what gave it; empty: nothing. With 0 the system chooses one. */
export function portProblem(name, text) {
  const fits = /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
  return fits ? "" : `${name} is ${JSON.stringify(text)}: it must be a whole number from 0 to 65535`;
}

/** The value of a variable of this process; one that is empty takes its default, as one that is missing. */
export function variable(name, unset) {
  return process.env[name]?.trim() || unset;
}

/** The port of the option `--port`, else that of the variable PORT. One that is none ends the process, which says so. */
export function portOrExit(option) {
  const [name, port] = option === undefined ? ["PORT", variable("PORT", "8787")] : ["--port", option];
  const problem = portProblem(name, port);
  if (problem === "") return port;
  console.error(problem);
  process.exit(1);
}

/** The variables that arguments of wrangler set, `--var NAME:value` in all its forms; a later one wins. */
export function varsOf(args) {
  const vars = {};
  let open = false;
  for (const arg of args) {
    const given = arg.startsWith("--var=") ? arg.slice("--var=".length) : arg;
    if (arg === "--var") open = true;
    else if (given.startsWith("-")) open = false;
    else if (open || given !== arg) {
      const at = given.indexOf(":");
      if (at > 0) vars[given.slice(0, at)] = given.slice(at + 1);
    }
  }
  return vars;
}

/** What stands behind the gateway, as its variables say; without an address the sandbox, where there is one. */
export function providerName(vars, sandbox = true) {
  const { PROVIDER_BASE_URL: url, PROVIDER_DRIVER: driver = "sessions" } = vars;
  if (url) return `${url} (driver ${driver})`;
  return sandbox ? "the sandbox, with three accounts; see sandbox/README.md" : "none: set PROVIDER_BASE_URL";
}

/** Where a gateway that listens on `host` can be reached from this machine; on all addresses, it can be on the loopback one. */
export function addressOf(scheme, host, port) {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const reached = { "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1" }[bare] ?? bare;
  return `${scheme}://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** Where a gateway is, and what opens it. `details`: further lines, each a name and what it is. */
export function banner(address, vars, details) {
  const development = vars.GATEWAY_DEVELOPMENT === "true";
  const admin = vars.ADMIN_KEY === "admin" ? "   (admin key: admin)" : "";
  const lines = [
    ["Polygate", address],
    ...(development ? [["API key", "sk-dev"]] : []),
    ["Console", `${address}/admin${admin}`],
    ["Provider", providerName(vars, development)],
    ...details,
  ];
  return `\n${lines.map(([name, text]) => `  ${name.padEnd(10)} ${text}`).join("\n")}\n`;
}

/** A certificate that nobody has signed is good enough: we have just started what we ask. */
function answers(address) {
  const { get } = address.startsWith("https:") ? https : http;
  return new Promise((tell) => {
    const request = get(`${address}/healthz`, { rejectUnauthorized: false, timeout: 2_000 }, (response) => {
      response.resume();
      tell(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => tell(false));
  });
}

/**
 * Runs a program until it ends, and ends with it. What it says before it serves is held back, and told only if it ends without;
 * then comes what `said` makes of its address, and from then on whatever it says. If it serves nothing for `holdMs` milliseconds,
 * what it says is let through instead.
 *
 * Only the program itself tells that it listens, and on which port: `addressAt` says where that can be reached. What answers at
 * an address before may be another program. One that was told to say little does not tell: what answers at `quietPort` is taken for it.
 */
export function launch(name, command, args, options, addressAt, said, { holdMs = HOLD_MS, quietPort } = {}) {
  const child = spawn(command, args, { ...options, stdio: ["inherit", "pipe", "pipe"] });
  let held = [];
  let heldLength = 0;
  const tell = () => {
    for (const [stream, chunk] of held ?? []) stream.write(chunk);
    held = null;
  };
  let listens = false;
  const listen = (text) => {
    const port = LISTENS.exec(stripVTControlCharacters(text))?.[1];
    if (port === undefined || listens) return;
    listens = true;
    void wait(addressAt(port));
  };
  const pass = (from, to) => {
    let heard = "";
    from.on("data", (chunk) => {
      // The line may come in pieces.
      heard += chunk;
      if (!listens) listen(heard);
      heard = heard.slice(-LINE);
      if (held === null) return void to.write(chunk);
      held.push([to, chunk]);
      heldLength += chunk.length;
      while (heldLength > KEPT && held.length > 1) heldLength -= held.shift()[1].length;
    });
  };

  let ended = false;
  const patience = setTimeout(tell, holdMs).unref();
  const wait = async (address) => {
    while (!ended && !(await answers(address))) await new Promise((done) => setTimeout(done, POLL_MS));
    // What it says of that question is not for people either.
    await new Promise((done) => setTimeout(done, QUIET_MS));
    if (ended) return;
    const warnings =
      (held ?? [])
        .map(([, chunk]) => String(chunk))
        .join("")
        .match(WARNING) ?? [];
    held = null;
    clearTimeout(patience);
    for (const warning of warnings) console.error(warning);
    console.log(said(address));
  };
  pass(child.stdout, process.stdout);
  pass(child.stderr, process.stderr);
  if (quietPort !== undefined) {
    listens = true;
    void wait(addressAt(quietPort));
  }

  // A terminal sends Ctrl+C to both processes; any other signal is for this one alone and is passed on.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    ended = true;
    console.error(`${name} could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    ended = true;
    // What it said last is still in the pipe, which its own children may hold open.
    setTimeout(() => {
      tell();
      process.exit(code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 0));
    }, FLUSH_MS);
  });
}
