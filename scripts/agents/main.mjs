/**
 * `npm run agents [name …]`: installs coding agents from npm into `.cache/agents`, runs each against the gateway and the
 * sandbox provider with one and with two parallel tool calls, and prints a table. Needs no other set-up; an agent that
 * cannot be installed is reported and passed over.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { agents } from "./clients.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, ".cache", "agents");
const PORT = Number(process.env.AGENTS_PORT ?? 8797);
const TIMEOUT_MS = 90_000;
const ANSWER = "All done.";

/** Runs a program to its end; resolves with its exit code and what it printed. */
function run(command, args, { env = process.env, cwd = root, input = "", timeout = TIMEOUT_MS } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, cwd, timeout, killSignal: "SIGKILL" });
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    child.stderr.on("data", (data) => {
      output += data;
    });
    child.on("error", (error) => resolve({ code: -1, output: String(error) }));
    child.on("close", (code) => resolve({ code: code ?? -1, output }));
    child.stdin.end(input);
  });
}

async function startGateway() {
  const state = join(cache, "state");
  const args = [join(root, "scripts/start.mjs"), "--port", String(PORT), "--persist-to", state];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "ignore", detached: true });
  const base = `http://127.0.0.1:${PORT}`;
  for (let tries = 0; tries < 120; tries += 1) {
    const healthy = await fetch(`${base}/healthz`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return { base, stop: () => process.kill(-child.pid) };
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error("the gateway did not start");
}

async function install(agent) {
  const folder = join(cache, agent.bin);
  const bin = join(folder, "node_modules", ".bin", agent.bin);
  const stamp = join(folder, "version");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === agent.version) return bin;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  const { code, output } = await run(
    "npm",
    ["install", "--no-audit", "--no-fund", `${agent.package}@${agent.version}`],
    {
      cwd: folder,
      timeout: 300_000,
    },
  );
  if (code !== 0)
    throw new Error(`cannot be installed: ${output.split("\n").find((line) => /error/i.test(line)) ?? ""}`);
  writeFileSync(stamp, agent.version);
  return bin;
}

/** One conversation of an agent: `calls` shell commands at once, then the final text. Null: as it should be. */
async function converse(bin, home, agentRun, calls) {
  const work = join(home, "work");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const commands = Array.from({ length: calls }, (_, n) => `echo call-${n} > call-${n}.txt`);
  const directives = commands.map(
    (command) => `[[call:${agentRun.tool}:${JSON.stringify(agentRun.input(command))}]]`,
  );
  const prompt = `${directives.join("")}[[then:${ANSWER}]]`;
  const args = agentRun.args.map((argument) => argument.replace("{prompt}", prompt).replace("{home}", home));
  const env = { PATH: process.env.PATH, HOME: home, TERM: "xterm", ...agentRun.env };
  const input = agentRun.stdin ? prompt : "";
  const { code, output } = await run(bin, args, { env, cwd: work, input });
  for (let n = 0; n < calls; n += 1) {
    if (!existsSync(join(work, `call-${n}.txt`)))
      return `call ${n + 1} of ${calls} was not made: ${output.slice(-300)}`;
  }
  return code === 0 ? null : `exit code ${code}: ${output.slice(-300)}`;
}

async function tryAgent(agent, rows) {
  const bin = await install(agent);
  const home = join(cache, agent.bin, "home");
  mkdirSync(home, { recursive: true });
  for (const [path, text] of Object.entries(agent.files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  for (const args of agent.setup ?? []) {
    await run(bin, args, { env: { PATH: process.env.PATH, HOME: home, TERM: "xterm" }, cwd: home });
  }
  for (const agentRun of agent.runs) {
    const one = await converse(bin, home, agentRun, 1);
    const two = await converse(bin, home, agentRun, 2);
    rows.push([agentRun.name, agent.version, agentRun.dialect, one ?? "ok", two ?? "ok"]);
  }
}

const wanted = process.argv.slice(2);
mkdirSync(cache, { recursive: true });
const gateway = await startGateway();
const rows = [];
try {
  for (const agent of agents(gateway.base)) {
    if (wanted.length > 0 && !wanted.includes(agent.bin)) continue;
    try {
      await tryAgent(agent, rows);
    } catch (error) {
      rows.push([agent.bin, agent.version, "", error.message, ""]);
    }
  }
} finally {
  gateway.stop();
}
console.log("| agent | version | style | one call | two parallel calls |\n| --- | --- | --- | --- | --- |");
for (const row of rows) console.log(`| ${row.join(" | ")} |`);
const failed = rows.filter(([, , , one, two]) => one !== "ok" || two !== "ok").length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && rows.length > 0 ? 0 : 1;
