import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { MAX_MESSAGE_BYTES } from "../../src/core/ports/web-socket.ts";
import { json, type PassthroughVendor, startVendor } from "../support/passthrough-vendor.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";
import { DEV_KEY } from "../support/use-gateway.ts";
import { TestSocket } from "../support/web-sockets.ts";

/** WebSockets on a Deno that does not let the program take over connections. */

const server = new WebSocketServer({ noServer: true });
let vendor: PassthroughVendor;
beforeAll(async () => {
  vendor = await startVendor(() => json({ data: [] }));
  vendor.server.on("upgrade", (request, stream, head) => {
    server.handleUpgrade(request, stream, head, (socket) => {
      socket.on("message", (data) => socket.send(data.toString()));
      // Before the client's handshake is over.
      socket.send(JSON.stringify({ type: "session.created" }));
    });
  });
});
afterAll(async () => {
  for (const socket of server.clients) socket.terminate();
  await vendor.close();
});

const running = useAdmin(() => ({
  standardSockets: true,
  vars: {
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: [DEV_KEY],
      accounts: [{ token: "sk-one", name: "one", provider: "oa" }],
      providers: [
        { id: "oa", driver: "openai", base_url: `${vendor.url}/v1`, token: "", models: { mine: "gpt-real" } },
      ],
    }),
  },
}));

async function openWithKey(): Promise<TestSocket> {
  const socket = await TestSocket.open(running.gateway, { key: DEV_KEY });
  if (typeof socket === "number") throw new Error(`refused with ${socket}`);
  return socket;
}

const slotsInUse = async () => (await running.admin("GET", "/admin/queue/status")).body["in_use"];

describe("a WebSocket on a Deno that keeps its connections", () => {
  it("answers the requests of a caller with a key, one after another", async () => {
    const socket = await openWithKey();
    socket.keep(10);
    const first = await socket.outcome();
    expect(first).toMatchObject({ id: expect.stringMatching(/^resp_/) });
    socket.keep(10, { previous_response_id: first?.id ?? "" });
    expect(await socket.outcome()).toMatchObject({ id: expect.stringMatching(/^resp_/) });
    await socket.end();
  });

  it("is refused with 501 for a caller without a key, who could fill the memory", async () => {
    expect(await TestSocket.open(running.gateway, { key: "a-token-of-the-caller" })).toBe(501);
  });

  it("closes with 1009 after a message that is too long", async () => {
    const socket = await openWithKey();
    await socket.sendPart(MAX_MESSAGE_BYTES);
    socket.keep(10);
    await socket.next();
    expect(socket.closeCode).toBe(1009);
  });

  it("joins a client and its provider in both directions, and frees the account when the client leaves", async () => {
    const url = `${running.gateway.url.replace(/^http/, "ws")}/v1/realtime?model=oa/mine`;
    const client = new WebSocket(url, ["realtime", `openai-insecure-api-key.${DEV_KEY}`]);
    const messages: string[] = [];
    client.on("message", (data) => messages.push(data.toString()));
    await once(client, "open");
    expect(client.protocol).toBe("realtime");
    expect(await slotsInUse()).toBe(1);
    // More than a sender may have unsent.
    const long = JSON.stringify({ type: "echo", text: "x".repeat(300_000) });
    for (let count = 0; count < 20; count += 1) client.send(long);
    await until(
      async () => messages.length,
      (count) => count === 21,
    );
    expect(messages[0]).toContain("session.created");
    expect(messages.slice(1).every((message) => message.length === long.length)).toBe(true);
    client.terminate();
    await until(slotsInUse, (count) => count === 0);
    expect(await slotsInUse()).toBe(0);
  });
});
