import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { parseWith, readJson as read } from "../../../../src/core/http/json-body.ts";
import { MemoryBudget, type MemoryReservation } from "../../../../src/core/http/memory-budget.ts";

function post(body: BodyInit, headers: HeadersInit = {}): Request {
  // Node wants `duplex` for a streamed body; the Workers types do not know it.
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, headers, duplex: "half" };
  return new Request("http://gateway/", init);
}

/** As it comes from a client that says how long it is. */
function declared(body: string | Uint8Array<ArrayBuffer>): Request {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return post(bytes, { "content-length": String(bytes.byteLength) });
}

const ENOUGH = 64 * 1024 * 1024;

function holding(bytes = ENOUGH): MemoryReservation {
  const hold = new MemoryBudget(bytes).createReservation();
  hold.markKnown();
  return hold;
}

function readJson(request: Request, limit = 1_000_000, hold = holding()): Promise<unknown> {
  return read(request, { memory: hold, limit, timeoutMs: 1_000 });
}

/** A body that comes in these pieces, and then no further unless it `ends`. */
function pieces(parts: readonly (string | Uint8Array)[], ends = true): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === "string" ? encoder.encode(part) : part);
      if (ends) controller.close();
    },
  });
}

async function failure(work: () => unknown): Promise<GatewayError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

function chunked(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      const size = Math.min(left, 1000);
      if (size === 0) return controller.close();
      left -= size;
      controller.enqueue(new Uint8Array(size).fill(32));
    },
  });
}

describe("JSON bodies", () => {
  it("are refused if they are nested too deeply", async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect(await readJson(post(nested(512)))).toBeTypeOf("object");
    for (const request of [post(nested(513)), declared(nested(513))]) {
      expect(await failure(() => readJson(request))).toMatchObject({ status: 400, code: "invalid_request" });
    }
  });

  it("are read whole", async () => {
    expect(await readJson(declared('{"a":"ü"}'))).toEqual({ a: "ü" });
    expect(await readJson(post('{"a":"ü"}'))).toEqual({ a: "ü" });
    const bytes = new TextEncoder().encode('{"a":"ü😀"}');
    expect(await readJson(post(pieces(Array.from(bytes, (byte) => new Uint8Array([byte])))))).toEqual({
      a: "ü😀",
    });
  });

  it.each([
    ["broken JSON", "{"],
    ["an empty body", ""],
    ["an overlong encoding", new Uint8Array([0x22, 0xc0, 0xaf, 0x22])],
    ["a lone continuation byte", new Uint8Array([0x22, 0x80, 0x22])],
    ["an encoded surrogate", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["a cut sequence", new Uint8Array([0x22, 0xe2, 0x82])],
  ])("%s is a 400 `invalid json`", async (_, body) => {
    for (const request of [post(body), declared(body)]) {
      const error = await failure(() => readJson(request));
      expect([error.status, error.code]).toEqual([400, "invalid json"]);
    }
  });

  it("that are invalid UTF-8 get that error before any other", async () => {
    const deep = pieces(["[".repeat(600), new Uint8Array([0xff]), "]".repeat(600)]);
    expect((await failure(() => readJson(post(deep)))).code).toBe("invalid json");
    const dear = pieces(["[{},{},{}", new Uint8Array([0xff]), "]"]);
    expect((await failure(() => readJson(post(dear), 1_000_000, holding(100)))).code).toBe("invalid json");
  });

  it("reserve memory for their parsed values, and are a 413 if it would be too much", async () => {
    const values = `[${"{},".repeat(10_000)}{}]`;
    for (const make of [post, declared]) {
      const hold = holding(2_000_000);
      expect((await failure(() => readJson(make(values), 1_000_000, hold))).status).toBe(413);
      expect(await readJson(make(`["${"a".repeat(900_000)}"]`), 1_000_000, hold)).toHaveLength(1);
      hold.release();
      expect(hold.tryReserve(2_000_000)).toBe(true);
    }
  });

  it("hold memory only for received bytes, and for a limited time", async () => {
    vi.useFakeTimers();
    try {
      const budget = new MemoryBudget(1_000_000);
      const hold = budget.createReservation();
      const slow = post(pieces(['{"a":'], false), { "content-length": "900000" });
      const error = failure(() => readJson(slow, 1_000_000, hold));
      await vi.advanceTimersByTimeAsync(500);
      expect([budget.used > 0, budget.used < 1_000]).toEqual([true, true]);
      await vi.advanceTimersByTimeAsync(600);
      expect((await error).status).toBe(408);
      const short = failure(() => readJson(post(pieces(["{"], false), { "content-length": "9" })));
      await vi.advanceTimersByTimeAsync(1_000);
      expect((await short).status).toBe(408);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("may take longer the more bytes have arrived", async () => {
    vi.useFakeTimers();
    try {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const reading = readJson(post(readable), 1_000_000);
      for (let second = 0; second < 4; second += 1) {
        await writer.write(new Uint8Array(65_536).fill(32));
        await vi.advanceTimersByTimeAsync(900);
      }
      await writer.write(new TextEncoder().encode("7"));
      await writer.close();
      expect(await reading).toBe(7);
    } finally {
      vi.useRealTimers();
    }
  });

  it("above the limit are a 413, declared or counted", async () => {
    expect((await failure(() => readJson(post("x".repeat(2001)), 2000))).status).toBe(413);
    expect((await failure(() => readJson(post(chunked(2001)), 2000))).status).toBe(413);
  });

  it("are checked as fast with 100,000 violations as with one", async () => {
    const schema = z.object({
      list: z.array(z.object({ a: z.string(), b: z.union([z.string(), z.number()]) })),
    });
    const seen: unknown[] = [];
    const item = {
      get a() {
        seen.push(this);
        return 7;
      },
    };
    const error = await failure(() => parseWith(schema, { list: Array(100_000).fill(item) }));
    expect([error.param, seen.length < 10]).toEqual(["list[0].a", true]);
  });

  it("that violate a schema are a 400 which names the field", async () => {
    const schema = z.object({ messages: z.array(z.object({ role: z.string() })) });
    const error = await failure(() => parseWith(schema, { messages: [{ role: "user" }, { role: 7 }] }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request", param: "messages[1].role" });
  });

  it.each([
    [z.number().max(200), 201, "field: must be at most 200"],
    [z.number().min(1), 0, "field: must be at least 1"],
    [z.number().positive(), 0, "field: must be more than 0"],
    [z.int(), 1e21, "field: must be at most 9007199254740991"],
    [z.array(z.string()).min(1), [], "field: must have at least 1 item"],
    [z.string().max(3), "long", "field: must have at most 3 characters"],
  ])("that exceed a bound are a 400 which names the bound: %#", async (field, value, message) => {
    const schema = z.object({ field });
    expect((await failure(() => parseWith(schema, { field: value }))).message).toBe(message);
  });
});
