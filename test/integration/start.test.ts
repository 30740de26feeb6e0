import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { root } from "../../scripts/development.mjs";
import { freePort } from "../support/free-port.ts";

let child: ChildProcess;
let url: string;
let output = "";
const storage = mkdtempSync(join(tmpdir(), "polygate-start-"));

/** What `npm start -- …` runs, with a port and storage of its own. */
beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const args = ["--port", String(port), "--persist-to", storage, "--var", "OF_MY_OWN:1"];
  child = spawn(process.execPath, [join(root, "scripts", "start.mjs"), ...args], {
    stdio: "pipe",
    env: { ...process.env, PORT: "1" },
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
  await vi.waitUntil(() => isUp(url), { timeout: 50_000, interval: 200 });
});

afterAll(async () => {
  if (child.exitCode === null) child.kill("SIGKILL");
  rmSync(storage, { recursive: true, force: true });
});

describe("npm start", () => {
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
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "It works." } }] });
  });

  it("passes arguments on, which win over the environment", () => {
    expect(output).not.toMatch(/127\.0\.0\.1:1\b/);
    expect(output).toContain("env.OF_MY_OWN");
  });

  it("ends when it is told to, and leaves nothing running", async () => {
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
