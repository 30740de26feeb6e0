import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { root } from "../../scripts/development.mjs";
import { FaultUpstream } from "../support/fault-upstream.ts";
import { rawChat } from "../support/raw-client.ts";
import { DEV_KEY, useGateway } from "../support/use-gateway.ts";

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

const upstream = await FaultUpstream.start({ text: "a b c", stallAfter: 2 });
afterAll(() => upstream.close());

/** Starts `Deno.serve` without the gateway. Returns its port. */
async function startBareDeno(): Promise<number> {
  const args = ["serve", "--no-remote", "--host", "127.0.0.1", "--port", "0", "test/support/deno-bare.mjs"];
  const child = spawn(join(root, "node_modules", ".bin", "deno"), args, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.push(child);
  for await (const line of createInterface({ input: child.stderr })) {
    const port = /Listening on http:\S+:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("Deno did not start");
}

/** What a client reads up to the end of its connection. */
async function answerOf(port: number, closesSendingSide: boolean): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes: Buffer) => {
    answer += bytes.toString("latin1");
  });
  socket.write("GET / HTTP/1.1\r\nHost: deno\r\nConnection: close\r\n\r\n");
  if (closesSendingSide) socket.end();
  await once(socket, "close");
  return answer;
}

// Deno serves HTTP with hyper, and does not set hyper's `half_close`. When this test fails, a new version of Deno has
// lifted the limitation: then docs/deployment.md and the test below change, and test/integration/half-close.test.ts runs on Deno, too.
describe("Deno itself", () => {
  it("closes the connection of a client that closes its sending side", async () => {
    const port = await startBareDeno();
    expect(await answerOf(port, false)).toContain("hello");
    expect(await answerOf(port, true)).toBe("");
  });
});

describe("a client that closes its sending side", () => {
  const gateway = useGateway({
    vars: {
      PROVIDER_BASE_URL: upstream.url,
      GATEWAY_CONFIG_JSON: JSON.stringify({
        keys: [DEV_KEY],
        accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
      }),
    },
  });

  it("is treated as departed, and holds no slot", async () => {
    const administrator = { headers: { authorization: "Bearer admin" } };
    const messages = [{ role: "user", content: "hello" }];
    const socket = await rawChat(gateway.gateway, JSON.stringify({ model: "gpt-4o", messages }));
    await expect.poll(() => upstream.open).toBe(1);
    socket.end();
    await expect.poll(() => upstream.open).toBe(0);
    const newest = async (): Promise<unknown> => {
      const response = await gateway.fetch("/admin/chat-history", administrator);
      const { items }: { items: unknown[] } = await response.json();
      return items[0];
    };
    await expect.poll(newest).toMatchObject({ status: "cancelled", status_code: 499 });
    const queue = await gateway.fetch("/admin/queue/status", administrator);
    expect(await queue.json()).toMatchObject({ in_use: 0 });
  });
});
