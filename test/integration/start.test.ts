import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { root } from "../../scripts/development.mjs";
import { askAsHost } from "../support/ask-as-host.ts";
import { freePort } from "../support/free-port.ts";
import { descendants } from "../support/processes.ts";
import { until } from "../support/until.ts";

let child: ChildProcess;
let port: number;
let url: string;
let output = "";
/** A start that takes 20 s tells meanwhile what goes on. */
const SURELY_QUIET_MS = 15_000;
let startedAfterMs = 0;
const storage = mkdtempSync(join(tmpdir(), "polygate-start-"));

/** What `npm start -- …` runs, with a port and storage of its own. */
async function start(): Promise<void> {
  const args = ["--port", String(port), "--persist-to", storage, "--var", "ADMIN_KEY:of-my-own"];
  child = spawn(process.execPath, [join(root, "scripts", "start.mjs"), ...args], {
    stdio: "pipe",
    env: { ...process.env, PORT: "1" },
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
  const since = Date.now();
  await vi.waitUntil(() => isUp(url), { timeout: 50_000, interval: 50 });
  startedAfterMs = Date.now() - since;
}

beforeAll(async () => {
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await start();
});

afterAll(async () => {
  kill();
  rmSync(storage, { recursive: true, force: true });
});

/** The output of a start that fails, and its exit code. */
async function failedStart(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  folder = root,
) {
  const failed = spawn(process.execPath, [join(folder, "scripts", "start.mjs"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  let said = "";
  for (const stream of [failed.stdout, failed.stderr]) stream.on("data", (text) => (said += text));
  const [code]: unknown[] = await once(failed, "exit");
  return { code, said };
}

/** Kills it and all processes that it has started. */
function kill(): void {
  if (child.pid === undefined) return;
  for (const { pid } of descendants(child.pid)) process.kill(pid, "SIGKILL");
  child.kill("SIGKILL");
}

const chat = (content: string, stream = false) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", stream, messages: [{ role: "user", content }] }),
  });

async function inUse(): Promise<number> {
  const answer = await fetch(`${url}/admin/queue/status`, { headers: { authorization: "Bearer of-my-own" } });
  const { in_use }: { in_use: number } = await answer.json();
  return in_use;
}

describe("npm start", () => {
  it("prints only address, keys and provider, once the gateway runs", async () => {
    const said = await until(
      async () => output,
      (text) => text.includes("Provider"),
    );
    const lines = said.split("\n").map((line) => line.trim());
    const first = lines.findIndex((line) => line.startsWith("Polygate   "));
    const before = lines.slice(0, first).filter((line) => !["", "Still starting ..."].includes(line));
    if (startedAfterMs < SURELY_QUIET_MS) expect(before).toEqual([]);
    expect(lines.slice(first, first + 4)).toEqual([
      `Polygate   ${url}`,
      "API key    sk-dev",
      `Console    ${url}/admin`,
      "Provider   the sandbox, with 3 accounts; see sandbox/README.md",
    ]);
  });

  it("answers a chat request from the sandbox with no other set-up", async () => {
    const response = await chat("[[say:It works.]]");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "It works." } }] });
  });

  it("serves the key of development at localhost and at addresses, not at a name that a web page may have rebound", async () => {
    const body = { model: "gpt-4o", messages: [{ role: "user", content: "hello" }] };
    const ask = { key: "sk-dev", method: "POST", body };
    const statuses = ["evil.example:8787", "localhost:8787"].map(async (host) => {
      const { status } = await askAsHost(`${url}/v1/chat/completions`, { ...ask, host });
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([403, 200]);
    const own = { host: "gateway.example", key: "of-my-own" };
    expect(await askAsHost(`${url}/admin/queue/status`, own)).toMatchObject({ status: 200 });
  });

  it("passes arguments on, which win over the environment", async () => {
    expect(output).not.toMatch(/127\.0\.0\.1:1\b/);
    expect(await inUse()).toBe(0);
  });

  it("reports in one sentence that another program has the port", async () => {
    const { code, said } = await failedStart([
      "--port",
      String(port),
      "--persist-to",
      join(storage, "other"),
    ]);
    expect(code).toBe(1);
    expect(said).toBe(
      `Another program listens on port ${port}. Choose another one: npm start -- --port 8788\n`,
    );
  });

  it("does not start twice on one folder of stored state, and names the process that has it", async () => {
    const other = await freePort();
    const { code, said } = await failedStart(["--port", String(other), "--persist-to", storage]);
    expect(code).toBe(1);
    expect(said).toMatch(
      new RegExp(
        `^Another npm start \\(process ${child.pid}, at ${url}\\) uses the stored state in \\S+\\. .+\n$`,
      ),
    );
    expect((await chat("[[say:Still here.]]")).status).toBe(200);
  });

  it.each([
    ["PROVIDER_DRIVER:bogus", /^PROVIDER_DRIVER is "bogus": it must be one of sessions, .+\n$/],
    [
      "PROVIDER_DRIVER:openai",
      /^PROVIDER_BASE_URL is missing: with PROVIDER_DRIVER openai it must be the provider's address\n$/,
    ],
    ["QUEUE_TIMEOUT_MS:abc", /^QUEUE_TIMEOUT_MS is "abc": it must be a whole number from 1 to \d+\n$/],
  ])("reports in one sentence what is wrong with --var %s", async (given, sentence) => {
    const { code, said } = await failedStart(["--port", String(port), "--var", given]);
    expect(code).toBe(1);
    expect(said).toMatch(sentence);
  });

  it("reports in one sentence what is wrong in .dev.vars, unless --var sets the variable", async () => {
    // A copy of the scripts beside a file of its own: the project's may be the developer's.
    const folder = join(storage, "project");
    cpSync(join(root, "scripts"), join(folder, "scripts"), { recursive: true });
    for (const name of ["src", "node_modules"]) symlinkSync(join(root, name), join(folder, name));
    const models = 'PROVIDER_MODELS=\'{\n  "a": "b"\n}\'';
    const wrong = "QUEUE_TIMEOUT_MS = abc # not a number\n";
    const args = ["--port", String(port)];
    writeFileSync(join(folder, ".dev.vars"), `${models}\n${wrong}`);
    const { code, said } = await failedStart(args, {}, folder);
    expect(code).toBe(1);
    expect(said).toMatch(/^QUEUE_TIMEOUT_MS is "abc": it must be a whole number from 1 to \d+\n$/);
    const other = await failedStart([...args, "--var", "QUEUE_TIMEOUT_MS:1", "POOL_SHARDS:x"], {}, folder);
    expect(other).toEqual({ code: 1, said: expect.stringMatching(/^POOL_SHARDS is "x": .+\n$/) });
  });

  it("reports an invalid port", async () => {
    const said = 'is "abc": it must be a whole number from 0 to 65535\n';
    expect(await failedStart(["--port", "abc"])).toEqual({ code: 1, said: `--port ${said}` });
    expect(await failedStart([], { PORT: "abc" })).toEqual({ code: 1, said: `PORT ${said}` });
  });

  it("states why it cannot start", async () => {
    const { code, said } = await failedStart(["--no-such-option"]);
    expect(code).toBe(2);
    expect(said).toMatch(/^There is no option --no-such-option\.\n/);
    expect(said).toContain("--persist-to FOLDER");
    const withEquals = await failedStart(["--var", "ADMIN_KEY=secret"]);
    expect([withEquals.code, withEquals.said]).toEqual([
      2,
      expect.stringMatching(/^--var ADMIN_KEY=… sets no variable/),
    ]);
    expect(withEquals.said).not.toContain("secret");
    const swallowed = await failedStart(["9400"], { npm_config_port: "true" });
    expect(swallowed).toEqual({ code: 2, said: expect.stringMatching(/^npm kept --port for itself\./) });
  });

  it("warns of an unknown variable, and starts", async () => {
    const { said } = await failedStart([
      "--port",
      String(port),
      "--var",
      "PROVIDER_BASEURL:http://x",
      "POOL_SHARDS:1",
    ]);
    expect(said).toContain("Warning: there is no variable PROVIDER_BASEURL. Do you mean PROVIDER_BASE_URL?");
  });

  it("prints its own help", async () => {
    const { code, said } = await failedStart(["--help"]);
    expect(code).toBe(0);
    expect(said).toContain("--host 127.0.0.1");
    expect(said).not.toContain("POSITIONALS");
  });

  it("holds no slot back after it was killed and started again while streams held all slots", async () => {
    const streams = Array.from({ length: 6 }, async () =>
      (await chat("[[slow:500]] [[big:9000]]", true)).text(),
    );
    const broken = Promise.allSettled(streams);
    await until(inUse, (count) => count === 6);
    await sleep(600);
    kill();
    await broken;
    await start();
    // Taken for the leases of a process that lives on, the slots would be held back for 12 seconds.
    expect(await inUse()).toBe(0);
    expect((await chat("[[say:Back again.]]")).status).toBe(200);
  }, 60_000);

  it("leaves nothing running when it alone was killed, and starts again on the same state", async () => {
    child.kill("SIGKILL");
    await expect.poll(() => isUp(url), { timeout: 20_000 }).toBe(false);
    await start();
    expect((await chat("[[say:Back again.]]")).status).toBe(200);
  }, 60_000);

  it("ends with the npm that started it, which alone gets the signal", async () => {
    const other = await freePort();
    const place = `http://127.0.0.1:${other}`;
    // The shell stands for npm: it does not pass signals on.
    const command = `"${process.execPath}" scripts/start.mjs --port ${other} --persist-to "${storage}/npm"; true`;
    const npm = spawn("sh", ["-c", command], {
      cwd: root,
      stdio: "ignore",
      env: { ...process.env, npm_command: "run-script" },
    });
    await vi.waitUntil(() => isUp(place), { timeout: 50_000, interval: 100 });
    npm.kill("SIGTERM");
    await expect.poll(() => isUp(place), { timeout: 20_000 }).toBe(false);
  }, 90_000);

  it("ends on a signal, and leaves nothing running", async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
    await expect.poll(() => isUp(url)).toBe(false);
  });
});

async function isUp(address: string): Promise<boolean> {
  try {
    return (await fetch(`${address}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
