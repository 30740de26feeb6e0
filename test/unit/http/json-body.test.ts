import { describe, expect, it } from "vitest";
import { z } from "zod";
import { GatewayError } from "../../../src/errors/gateway-error.ts";
import { parseWith, readJson } from "../../../src/http/json-body.ts";

function post(body: BodyInit): Request {
  // Node wants `duplex` for a streamed body; the Workers types do not know it.
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
  return new Request("http://gateway/", init);
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
  it("are refused when they are nested too deeply for what walks through them", async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect(await readJson(post(nested(512)))).toBeTypeOf("object");
    const error = await failure(() => readJson(post(nested(513))));
    expect(error).toMatchObject({ status: 400, code: "invalid_request" });
  });

  it("are read whole", async () => {
    expect(await readJson(post('{"a":"ü"}'))).toEqual({ a: "ü" });
  });

  it.each([
    ["broken JSON", "{"],
    ["an empty body", ""],
    ["an overlong encoding", new Uint8Array([0x22, 0xc0, 0xaf, 0x22])],
    ["a lone continuation byte", new Uint8Array([0x22, 0x80, 0x22])],
    ["an encoded surrogate", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["a cut sequence", new Uint8Array([0x22, 0xe2, 0x82])],
  ])("%s is a 400 `invalid json`", async (_, body) => {
    const error = await failure(() => readJson(post(body)));
    expect([error.status, error.code]).toEqual([400, "invalid json"]);
  });

  it("above the limit are a 413, declared or counted", async () => {
    expect((await failure(() => readJson(post("x".repeat(2001)), 2000))).status).toBe(413);
    expect((await failure(() => readJson(post(chunked(2001)), 2000))).status).toBe(413);
  });

  it("that violate a schema are a 400 which names the field", async () => {
    const schema = z.object({ messages: z.array(z.object({ role: z.string() })) });
    const error = await failure(() => parseWith(schema, { messages: [{ role: "user" }, { role: 7 }] }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request", param: "messages[1].role" });
  });
});
