import { describe, expect, it } from "vitest";
import { MemoryBudget } from "../../../../../src/core/http/memory-budget.ts";
import { ResponsesConnection } from "../../../../../src/gateway/dialects/responses/connection.ts";
import { ConnectionResponseCache } from "../../../../../src/gateway/dialects/responses/connection-response-cache.ts";
import { pass, useMemoryGateway } from "../../../../support/memory-gateway.ts";

/** The share of the budget for callers without a key. */
const STRANGERS_BYTES = 1_000_000;
/** The memory that every connection reserves. */
const OPEN_BYTES = 128 * 1024;

const LIMITS = { lifetimeMs: 10_000, idleMs: 1000 };

describe("a WebSocket of the responses style", () => {
  const gateway = useMemoryGateway();

  /** A connection whose requests `answer` serves; it tells what was sent and how the connection was closed. `delivery` settles when a message has been delivered. */
  async function open(
    answer: (request: Request) => Promise<Response>,
    delivery: () => Promise<void> | null = () => Promise.resolve(),
  ) {
    const sent: unknown[] = [];
    const closes: number[] = [];
    const asked: Request[] = [];
    const budget = new MemoryBudget(4 * STRANGERS_BYTES);
    const context = {
      ...(await gateway()).context(),
      memory: budget.createReservation(),
      serveRequest: (request: Request) => {
        asked.push(request);
        return answer(request);
      },
    };
    const socket = {
      send: (text: string) => {
        sent.push(JSON.parse(text));
        return delivery();
      },
      close: (code: number) => void closes.push(code),
    };
    const connection = new ResponsesConnection(context, new Headers(), socket, LIMITS);
    return { connection, sent, closes, asked, budget };
  }

  const create = (input: string) => JSON.stringify({ type: "response.create", input });
  const event = (type: string) =>
    new Response(`event: ${type}\ndata: {"type":"${type}"}\n\ndata: [DONE]\n\n`);

  it("serves one message after another, and limits the number of waiting ones", async () => {
    const first = Promise.withResolvers<Response>();
    const { connection, sent, asked } = await open(() =>
      asked.length === 1 ? first.promise : Promise.resolve(event("response.completed")),
    );
    for (let count = 0; count < 10; count += 1) connection.onMessage(create(String(count)));
    expect(asked).toHaveLength(1);
    expect(sent).toMatchObject([{ type: "error", status: 429 }]);
    first.resolve(event("response.completed"));
    await pass(1);
    expect(sent).toHaveLength(10);
    expect(await asked[8]?.json()).toEqual({ input: "8", stream: true });
    connection.onClose();
  });

  it("passes on messages unchanged, and events in any form", async () => {
    const events =
      ': ping\r\n\r\nevent: response.created\r\ndata:{"type":"response.created"}\r\n\r\n' +
      'data: {"n":1.0,\ndata: "type":"error"}\n\n';
    const { connection, sent, asked } = await open(async () => new Response(events));
    connection.onMessage('{"type": "response.create", "top_p": 1.0, "stream_id": "s", "input": "hi" }');
    await pass(1);
    expect(await asked[0]?.text()).toBe('{"top_p": 1.0, "input": "hi" ,"stream":true}');
    expect(sent).toEqual([
      { stream_id: "s", type: "response.created" },
      { stream_id: "s", n: 1, type: "error" },
    ]);
    connection.onClose();
  });

  it("rejects messages that are nested too deeply or need too much memory", async () => {
    const { connection, sent, asked, budget } = await open(async () => event("response.completed"));
    connection.onMessage(`{"type":"response.create","input":${"[".repeat(600)}${"]".repeat(600)}}`);
    await pass(1);
    connection.onMessage(`{"type":"response.create","input":[${"{},".repeat(100_000)}{}]}`);
    await pass(1);
    connection.onMessage(create("x".repeat(2_000_000)));
    await pass(1);
    expect(sent).toMatchObject([
      { type: "error", status: 400 },
      { type: "error", status: 413 },
      { type: "error", status: 413 },
    ]);
    expect(asked).toEqual([]);
    expect(budget.used).toBe(OPEN_BYTES);
    connection.onMessage(create("hi"));
    await pass(1);
    expect(asked).toHaveLength(1);
    connection.onClose();
    expect(budget.used).toBe(0);
  });

  it("ends if the client keeps sending requests without reading the answers", async () => {
    const unread = new Promise<void>(() => undefined);
    const long = "x".repeat(300_000);
    const answer = () => new Response(`event: response.completed\ndata: {"text":"${long}"}\n\n`);
    const { connection, closes, budget } = await open(
      async () => answer(),
      () => unread,
    );
    connection.onMessage(create("hi"));
    await pass(1);
    expect(closes).toEqual([]);
    for (let asked = 0; asked < 8; asked += 1) {
      connection.onMessage(create("more"));
      await pass(1);
    }
    expect(closes).toEqual([1013]);
    expect(budget.used).toBeGreaterThan(600_000);
    connection.onClose();
    expect(budget.used).toBe(0);
  });

  it("counts messages that wait as memory until the connection ends", async () => {
    const first = Promise.withResolvers<Response>();
    const { connection, sent, budget } = await open(() => first.promise);
    for (let count = 0; count < 3; count += 1) connection.onMessage(create("x".repeat(250_000)));
    expect(budget.used).toBeGreaterThan(600_000);
    connection.onMessage(create("x".repeat(600_000)));
    expect(sent).toMatchObject([{ type: "error" }]);
    connection.onClose();
    expect(budget.used).toBe(0);
    first.resolve(event("response.completed"));
  });

  it("refuses binary messages", async () => {
    const { connection, sent } = await open(async () => event("response.completed"));
    connection.onMessage(null);
    expect(sent).toMatchObject([{ type: "error", status: 400 }]);
    connection.onClose();
  });

  it("closes when idle or at its maximum age, but never within a response", async () => {
    const idle = await open(async () => event("response.completed"));
    await pass(LIMITS.idleMs);
    expect(idle.closes).toEqual([1000]);
    const slow = Promise.withResolvers<Response>();
    const old = await open(() => slow.promise);
    old.connection.onMessage(create("slow"));
    await pass(LIMITS.lifetimeMs);
    expect(old.closes).toEqual([]);
    slow.resolve(event("response.completed"));
    await pass(1);
    expect(old.sent).toMatchObject([
      { type: "response.completed" },
      { type: "error", error: { code: "websocket_connection_limit_reached" } },
    ]);
    expect(old.closes).toEqual([1000]);
  });

  it("cancels its requests when it ends", async () => {
    const { connection, asked } = await open(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    connection.onMessage(create("slow"));
    connection.onClose();
    expect(asked[0]?.signal.aborted).toBe(true);
  });
});

describe("the latest responses of a connection", () => {
  const response = (id: string, size = 1) => ({ id, body: "x".repeat(size), messages: [], expiresAt: 0 });

  it("are limited in number, and release their memory", () => {
    const budget = new MemoryBudget(4_000_000);
    const latest = new ConnectionResponseCache(budget.createReservation());
    for (const id of ["a", "b", "c", "d", "e"]) latest.put(response(id, 1000));
    expect(["a", "b", "e"].map((id) => latest.get(id)?.id)).toEqual([undefined, "b", "e"]);
    expect(budget.used).toBeGreaterThan(4000);
    latest.remove("e");
    expect(latest.get("e")).toBeNull();
    latest.clear();
    expect(budget.used).toBe(0);
  });

  it("of the oldest connection are evicted first when memory is short", () => {
    const budget = new MemoryBudget(4_000_000);
    const [first, second] = [
      new ConnectionResponseCache(budget.createReservation()),
      new ConnectionResponseCache(budget.createReservation()),
    ];
    first.put(response("a", 400_000));
    second.put(response("b", 400_000));
    second.put(response("c", 400_000));
    expect([first.get("a"), second.get("b")?.id, second.get("c")?.id]).toEqual([null, "b", "c"]);
    second.put(response("too large", 2_000_000));
    expect([second.get("too large"), second.get("b")?.id]).toEqual([null, "b"]);
  });
});
