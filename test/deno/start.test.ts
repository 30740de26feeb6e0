import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/development.mjs";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

let child: ChildProcess;
let url: string;
let output = "";
const data = mkdtempSync(join(tmpdir(), "polygate-start-deno-"));

/** What `npm run start:deno` runs. */
beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  child = run({ PORT: String(port), DATA_DIR: data }, (text) => (output += text));
  await until(isUp, (up) => up, 50_000);
});

afterAll(() => {
  if (child.exitCode === null) child.kill("SIGKILL");
  rmSync(data, { recursive: true, force: true });
});

describe("npm run start:deno", () => {
  it("tells where the gateway is and what the keys are", async () => {
    await until(
      async () => output,
      (said) => said.includes(url) && said.includes("sk-dev"),
    );
  });

  it("answers a chat request from the sandbox with no other set-up", async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "[[say:It works.]]" }] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "It works." } }] });
  });

  it("ends when it is told to, and leaves nothing running", async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(await isUp()).toBe(false);
  });
});

describe("npx polygate", () => {
  it("starts the same from the package's bundle, and ends when it is told to", async () => {
    await promisify(execFile)(process.execPath, [join(root, "scripts", "build-program.mjs")]);
    const port = await freePort();
    let said = "";
    const args = ["--port", String(port), "--data", join(data, "npx")];
    const program = run({}, (text) => (said += text), [join(root, "bin", "polygate.mjs"), ...args]);
    try {
      await until(
        async () => said,
        (text) => text.includes(join(data, "npx")),
        50_000,
      );
      expect(said).toContain("sk-dev");
      const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
        body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "[[say:It works.]]" }] }),
      });
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: "It works." } }] });
      expect((await fetch(`http://127.0.0.1:${port}/admin`)).status).toBe(200);
      const ended = once(program, "exit");
      program.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      program.kill("SIGKILL");
    }
  }, 60_000);
});

describe("a variable that is not what it may be", () => {
  it("ends the start with a sentence, before anything is written", async () => {
    const folder = join(data, "never");
    let said = "";
    const failed = run({ PORT: "0", DATA_DIR: folder, PROVIDER_DRIVER: "foo" }, (text) => (said += text));
    expect(await once(failed, "close")).toEqual([1, null]);
    expect(said.trimEnd()).toMatch(/^PROVIDER_DRIVER is "foo": it must be one of sessions, .+$/);
    expect(existsSync(folder)).toBe(false);
  });
});

/** Starts it with variables, and tells what it prints. */
function run(
  variables: Readonly<Record<string, string>>,
  told: (text: string) => void,
  command: readonly string[] = [join(root, "scripts", "start-deno.mjs")],
): ChildProcess {
  const { PATH, HOME } = process.env;
  const started = spawn(process.execPath, command, {
    stdio: "pipe",
    env: { PATH, HOME, NO_COLOR: "1", ...variables },
  });
  for (const stream of [started.stdout, started.stderr]) stream.setEncoding("utf8").on("data", told);
  return started;
}

async function isUp(): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
