import { afterAll, afterEach, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { DenoGateway } from "../support/deno.ts";
import { json, startVendor } from "../support/passthrough-vendor.ts";
import { until } from "../support/until.ts";

const USAGE = { input_tokens: 11, output_tokens: 7 };

const vendor = await startVendor(() => json({ data: [] }));
const server = new WebSocketServer({ server: vendor.server });
server.on("connection", (socket) => {
  socket.send(JSON.stringify({ type: "session.created" }));
  socket.on("message", () =>
    socket.send(JSON.stringify({ type: "response.done", response: { usage: USAGE } })),
  );
});
let gateway: DenoGateway | undefined;
afterEach(() => gateway?.close());
afterAll(async () => {
  for (const socket of server.clients) socket.terminate();
  await vendor.close();
});

it("ends realtime connections at a shutdown, and keeps their usage", async () => {
  const provider = {
    id: "oa",
    driver: "openai",
    base_url: `${vendor.url}/v1`,
    token: "sk-v",
    models: { m: "m" },
  };
  gateway = await DenoGateway.start({
    vars: {
      GATEWAY_CONFIG_WRITEBACK: "true",
      GATEWAY_CONFIG_JSON: JSON.stringify({ keys: ["sk-dev"], providers: [provider] }),
    },
  });
  const address = `${gateway.url.replace("http", "ws")}/v1/realtime?model=oa/m`;
  const socket = new WebSocket(address, { headers: { authorization: "Bearer sk-dev" } });
  let received = 0;
  let closeCode = 0;
  socket.on("message", () => {
    received += 1;
  });
  socket.on("close", (code) => {
    closeCode = code;
  });
  const receive = (number: number) =>
    until(
      async () => received,
      (count) => count === number,
    );
  await receive(1);
  socket.send(JSON.stringify({ type: "response.create" }));
  await receive(2);
  expect(await gateway.end("SIGTERM")).toBe(0);
  expect(closeCode).toBe(1001);
  await gateway.startAgain();
  const headers = { authorization: "Bearer admin" };
  const list: unknown = await (await gateway.fetch("/admin/chat-history", { headers })).json();
  expect(list).toMatchObject({ items: [{ status: "success", prompt_tokens: 11, completion_tokens: 7 }] });
});
