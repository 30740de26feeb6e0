import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  child = spawn(process.execPath, [join(root, "scripts", "start-deno.mjs")], {
    stdio: "pipe",
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], PORT: String(port), DATA_DIR: data },
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
  await until(isUp, (up) => up, 50_000);
});

afterAll(() => {
  if (child.exitCode === null) child.kill("SIGKILL");
  rmSync(data, { recursive: true, force: true });
});

describe("npm run start:deno", () => {
  it("tells where the gateway is and what the keys are", () => {
    expect(output).toContain(url);
    expect(output).toContain("sk-dev");
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

async function isUp(): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
