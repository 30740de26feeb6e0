import { expect, test } from "vitest";
import { toUtf8 } from "../../../../src/core/encoding/bytes.ts";
import { readRelatedFile } from "../../../../src/gateway/files/related-file.ts";

const HEAD =
  '--b\r\nContent-Type: application/json\r\n\r\n{"file":{"displayName":"mine"}}\r\n--b\r\nContent-Type: text/x-test\r\n\r\n';

// A larger file than the parser passes on at once.
test.each([
  [1, 1_000_000],
  [200_000, 1_000_000],
  [200_000, 65_536],
  [200_000, 199_990],
])("a related file of %i bytes is read in pieces of %i", async (length, size) => {
  const bytes = toUtf8(`${HEAD}${"x".repeat(length)}\r\n--b--\r\n`);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { "content-type": "multipart/related; boundary=b" },
    body,
    duplex: "half",
  };
  const limits = { bytes: 1_000_000, idleMs: 1_000 };
  const file = readRelatedFile(new Request("http://gateway/upload", init), limits, (metadata, mediaType) => ({
    filename: JSON.stringify(metadata),
    mediaType,
  }));
  expect(await file.head()).toEqual({
    filename: '{"file":{"displayName":"mine"}}',
    mediaType: "text/x-test",
  });
  expect(await new Response(file.content).text()).toBe("x".repeat(length));
});
