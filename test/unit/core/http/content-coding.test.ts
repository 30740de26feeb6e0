import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { readJson } from "../../../../src/core/http/json-body.ts";
import { MemoryBudget } from "../../../../src/core/http/memory-budget.ts";

const MIB = 1024 * 1024;
const ENCODERS = { gzip: gzipSync, deflate: deflateSync, zstd: zstdCompressSync } as const;
const CODINGS = ["gzip", "deflate", "zstd"] as const;

/** Sends a body in pieces of `size` bytes. */
function streamed(bytes: Uint8Array, size = 1_000): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

function post(body: ReadableStream<Uint8Array>, coding: string): Request {
  // Node wants `duplex` for a streamed body; the Workers types do not know it.
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    body,
    headers: { "content-encoding": coding },
    duplex: "half",
  };
  return new Request("http://gateway/", init);
}

async function read(bytes: Uint8Array, coding: string, limit = MIB, size = 1_000) {
  const memory = new MemoryBudget(64 * MIB).createReservation();
  memory.markKnown();
  const request = post(streamed(bytes, size), coding);
  const value = await readJson(request, {
    memory,
    limit,
    timeoutMs: 1_000,
  }).catch((error: unknown) => {
    if (error instanceof GatewayError) return error;
    throw error;
  });
  return { value, held: memory.bytes };
}

describe("an encoded JSON body", () => {
  const body = JSON.stringify({ a: "ü😀".repeat(50_000) });

  it.each(CODINGS)("is decoded: %s", async (coding) => {
    const encoded = ENCODERS[coding](body);
    for (const size of [1, 7, 1_000_000]) {
      const { value, held } = await read(encoded, coding, MIB, size);
      expect(value).toEqual(JSON.parse(body));
      expect(held).toBeLessThan(4 * MIB);
    }
    expect(
      (await read(ENCODERS[coding]("{}"), ` X-${coding.toUpperCase()}`.replace(/X-(?!GZIP)/, ""))).value,
    ).toEqual({});
  });

  it("is used unchanged if the coding changes nothing", async () => {
    for (const coding of ["identity", "", " Identity "]) {
      expect((await read(new TextEncoder().encode(body), coding)).value).toEqual(JSON.parse(body));
    }
  });

  it.each(CODINGS)("is a 413 once its decoded bytes exceed the limit: %s", async (coding) => {
    const bomb = ENCODERS[coding](new Uint8Array(100 * MIB).fill(32));
    const { value, held } = await read(bomb, coding);
    expect(value).toMatchObject({ status: 413, code: "request_too_large" });
    expect(held).toBe(0);
  });

  it("is a 413 if its encoded bytes exceed the limit, even if they decode to nothing", async () => {
    const nothing = gzipSync("");
    const { value } = await read(
      new Uint8Array(Buffer.concat(Array(60_000).fill(nothing))),
      "gzip",
      MIB,
      64 * 1024,
    );
    expect(value).toMatchObject({ status: 413 });
  });

  it.each(CODINGS)("is a 400 if it is damaged or cut off: %s", async (coding) => {
    const encoded = ENCODERS[coding](body);
    const message = expect.stringContaining(`not valid ${coding} data`);
    for (const bytes of [encoded.subarray(0, -6), new TextEncoder().encode("{}"), new Uint8Array()]) {
      expect((await read(bytes, coding)).value).toMatchObject({ status: 400, message });
    }
    expect((await read(ENCODERS[coding]("{"), coding)).value).toMatchObject({ code: "invalid json" });
  });

  it("may not demand a window of more than 8 MiB", async () => {
    // A frame with a window of 128 MiB, and one raw block.
    const frame = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x11, 0x00, 0x00, 0x7b, 0x7d]);
    expect((await read(frame, "zstd")).value).toMatchObject({ status: 400 });
    frame[5] = 13 << 3;
    expect((await read(frame, "zstd")).value).toEqual({});
  });

  it.each(["br", "compress", "gzip, gzip", "aes128gcm"])(
    "is a 415 with another coding: %s",
    async (coding) => {
      const { value } = await read(new TextEncoder().encode("{}"), coding);
      expect(value).toMatchObject({
        status: 415,
        param: null,
        headers: { "accept-encoding": "gzip, deflate, zstd" },
      });
    },
  );
});
