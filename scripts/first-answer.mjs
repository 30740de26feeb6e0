// `npm run first-answer [-- --cold]`: measures how long a new user waits for the first answer. Clones the last commit into
// a new folder, follows the README, and prints the time of each step. `--cold`: with an empty npm cache, as on a new
// machine.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../test/support/free-port.ts";
import { root } from "./development.mjs";

const ANSWER_MS = 300_000;
const POLL_MS = 100;
const README_ADDRESS = "http://127.0.0.1:8787";

const { values: options } = parseArgs({ options: { cold: { type: "boolean", default: false } } });
const folder = mkdtempSync(join(tmpdir(), "polygate-first-answer-"));
const clone = join(folder, "polygate");
const address = `http://127.0.0.1:${await freePort()}`;

// The system's Node. `npm run` puts the project's Node first in PATH, which new users do not have.
const PATH = process.env.PATH.split(delimiter)
  .filter((part) => !part.includes("node_modules") && !part.includes("node-gyp-bin"))
  .join(delimiter);
const inherited = Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$|^NODE$/i.test(name));
const env = {
  ...Object.fromEntries(inherited),
  PATH,
  ...(options.cold && { npm_config_cache: join(folder, "npm") }),
};

/** Running child processes, each the leader of a process group. */
const running = new Set();

function begin(command, args, cwd) {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += text;
    });
  }
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { ended, said: () => output };
}

async function run(command, args, cwd) {
  const { ended, said } = begin(command, args, cwd);
  if ((await ended) !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${said()}`);
}

/** Returns the first request of the README: URL, headers and body of its curl command. */
function question() {
  const [, command] = /```sh\n(curl \S+\/v1\/chat\/completions [\s\S]*?)```/.exec(
    readFileSync(join(clone, "README.md"), "utf8"),
  );
  const headers = Array.from(command.matchAll(/-H '([^:]+): ([^']+)'/g), ([, name, value]) => [name, value]);
  const [, url] = /^curl (\S+)/.exec(command);
  return [
    url.replace(README_ADDRESS, address),
    { method: "POST", headers, body: /-d '([^']+)'/.exec(command)[1] },
  ];
}

/** Resolves when the gateway has streamed the start of an answer. */
async function answer(starting) {
  const [url, request] = question();
  const patience = performance.now() + ANSWER_MS;
  let over = false;
  void starting.ended.then(() => {
    over = true;
  });
  while (!over && performance.now() < patience) {
    const response = await fetch(url, request).catch(() => null);
    const text = response?.ok ? await firstText(response.body) : "";
    if (text !== "") return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`no answer:\n${starting.said()}`);
}

async function firstText(body) {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, content = ""] = /"content":"([^"]+)/.exec(text) ?? [];
    if (content !== "") return content;
  }
  return "";
}

function stop() {
  for (const child of running) {
    try {
      process.kill(-child.pid, "SIGTERM");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}

try {
  const load = loadavg()[0].toFixed(1);
  console.log(`npm's cache is ${options.cold ? "empty" : "as it is"}; load of this machine ${load}\n`);
  const began = performance.now();
  let before = began;
  const over = (step) => {
    const now = performance.now();
    const of = (from) => `${((now - from) / 1000).toFixed(1)} s`.padStart(8);
    console.log(`${step.padEnd(34)}${of(before)}${of(began)}`);
    before = now;
  };
  await run("git", ["clone", "--quiet", root, clone], folder);
  over("git clone");
  await run("npm", ["ci"], clone);
  over("npm ci");
  const starting = begin("npm", ["start", "--", "--port", new URL(address).port], clone);
  await answer(starting);
  over("npm start, to the first token");
  stop();
  await starting.ended;
} finally {
  stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
