import { describe, expect, it } from "vitest";
import { ResponsesConnection } from "../../../../src/dialects/responses/connection.ts";
import { LatestResponses } from "../../../../src/dialects/responses/connection-responses.ts";
import { BodyBudget } from "../../../../src/http/body-budget.ts";
import { pass, useMemoryGateway } from "../../../support/memory-gateway.ts";

const LIMITS = { lifeMs: 10_000, idleMs: 1000 };

describe("a WebSocket of the responses style", () => {
  const gateway = useMemoryGateway();

  /** A connection whose requests `answer` serves; it tells what was sent and how the connection was closed. */
  async function open(answer: (request: Request) => Promise<Response>) {
    const sent: unknown[] = [];
    const closes: number[] = [];
    const asked: Request[] = [];
    const budget = new BodyBudget(4_000_000);
    const context = {
      ...(await gateway()).context(),
      hold: budget.hold(),
      serve: (request: Request) => {
        asked.push(request);
        return answer(request);
      },
    };
    const socket = {
      waiting: 0,
      send: (text: string) => void sent.push(JSON.parse(text)),
      close: (code: number) => void closes.push(code),
    };
    const connection = new ResponsesConnection(context, new Headers(), socket, LIMITS);
    return { connection, sent, closes, asked, budget, socket };
  }

  const create = (input: string) => JSON.stringify({ type: "response.create", input });
  const event = (type: string) =>
    new Response(`event: ${type}\ndata: {"type":"${type}"}\n\ndata: [DONE]\n\n`);

  it("serves one message after another, and lets only so many wait", async () => {
    const first = Promise.withResolvers<Response>();
    const { connection, sent, asked } = await open(() =>
      asked.length === 1 ? first.promise : Promise.resolve(event("response.completed")),
    );
    for (let count = 0; count < 10; count += 1) connection.message(create(String(count)));
    expect(asked).toHaveLength(1);
    expect(sent).toMatchObject([{ type: "error", status: 429 }]);
    first.resolve(event("response.completed"));
    await pass(1);
    expect(sent).toHaveLength(10);
    expect(await asked[8]?.json()).toEqual({ input: "8", stream: true });
    connection.closed();
  });

  it("parses no message that is nested too deeply, or for whose values there is no memory", async () => {
    const { connection, sent, asked, budget } = await open(async () => event("response.completed"));
    connection.message(`{"type":"response.create","input":${"[".repeat(600)}${"]".repeat(600)}}`);
    await pass(1);
    connection.message(`{"type":"response.create","input":[${"{},".repeat(100_000)}{}]}`);
    await pass(1);
    connection.message(create("x".repeat(2_000_000)));
    await pass(1);
    expect(sent).toMatchObject([
      { type: "error", status: 400 },
      { type: "error", status: 413 },
      { type: "error", status: 413 },
    ]);
    expect(asked).toEqual([]);
    expect(budget.used).toBe(0);
    connection.message(create("hi"));
    await pass(1);
    expect(asked).toHaveLength(1);
    connection.closed();
    expect(budget.used).toBe(0);
  });

  it("ends when the client goes on asking without reading what it is told", async () => {
    const { connection, sent, closes, socket } = await open(async () => event("response.completed"));
    connection.message("garbage");
    await pass(1);
    expect(closes).toEqual([]);
    socket.waiting = 5_000_000;
    connection.message("garbage");
    await pass(1);
    expect([sent.length, closes]).toEqual([1, [1000]]);
  });

  it("counts messages that wait as memory until the connection ends", async () => {
    const first = Promise.withResolvers<Response>();
    const { connection, sent, budget } = await open(() => first.promise);
    for (let count = 0; count < 3; count += 1) connection.message(create("x".repeat(300_000)));
    expect(budget.used).toBeGreaterThan(600_000);
    connection.message(create("x".repeat(600_000)));
    expect(sent).toMatchObject([{ type: "error" }]);
    connection.closed();
    expect(budget.used).toBe(0);
    first.resolve(event("response.completed"));
  });

  it("refuses what is no text", async () => {
    const { connection, sent } = await open(async () => event("response.completed"));
    connection.message(null);
    expect(sent).toMatchObject([{ type: "error", status: 400 }]);
    connection.closed();
  });

  it("is closed when nothing is asked, and ends at its age, but never within a response", async () => {
    const idle = await open(async () => event("response.completed"));
    await pass(LIMITS.idleMs);
    expect(idle.closes).toEqual([1000]);
    const slow = Promise.withResolvers<Response>();
    const old = await open(() => slow.promise);
    old.connection.message(create("slow"));
    await pass(LIMITS.lifeMs);
    expect(old.closes).toEqual([]);
    slow.resolve(event("response.completed"));
    await pass(1);
    expect(old.sent).toMatchObject([
      { type: "response.completed" },
      { type: "error", error: { code: "websocket_connection_limit_reached" } },
    ]);
    expect(old.closes).toEqual([1000]);
  });

  it("ends what it asked for when it ends", async () => {
    const { connection, asked } = await open(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    connection.message(create("slow"));
    connection.closed();
    expect(asked[0]?.signal.aborted).toBe(true);
  });
});

describe("the latest responses of a connection", () => {
  const response = (id: string, size = 1) => ({ id, body: "x".repeat(size), messages: [], expiresAt: 0 });

  it("are kept up to a number and a size, the last one always", () => {
    const latest = new LatestResponses();
    for (const id of ["a", "b", "c", "d", "e"]) latest.put(response(id));
    expect(["a", "b", "e"].map((id) => latest.get(id)?.id)).toEqual([undefined, "b", "e"]);
    latest.put(response("large", 20_000_000));
    expect(["e", "large"].map((id) => latest.get(id)?.id)).toEqual([undefined, "large"]);
    latest.remove("large");
    expect(latest.get("large")).toBeNull();
  });
});
