import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { StreamWriter } from "../../../../src/gateway/generation/stream-writer.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A stream whose reader takes everything, and the chunks that it took. */
async function stream() {
  const writer = new StreamWriter(60_000, { onRead: () => {}, onDisconnect: () => {} });
  const opening = writer.write("open;");
  const reader = (await writer.ready).getReader();
  const chunks: string[] = [];
  const end = (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      chunks.push(new TextDecoder().decode(read.value));
    }
  })();
  await opening;
  return { writer, chunks, end };
}

it("joins the writes of five milliseconds", async () => {
  const { writer, chunks } = await stream();
  for (const text of ["a", "b", "c"]) expect(writer.write(text)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(4);
  expect(chunks).toEqual(["open;"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(chunks).toEqual(["open;", "abc"]);
});

it("does not delay later writes, or the end", async () => {
  const { writer, chunks, end } = await stream();
  await vi.advanceTimersByTimeAsync(5);
  await writer.write("a");
  expect(chunks).toEqual(["open;", "a"]);
  void writer.write("b");
  await writer.write("c", true);
  expect(chunks).toEqual(["open;", "a", "bc"]);
  void writer.write("d");
  await writer.close();
  await end;
  expect(chunks).toEqual(["open;", "a", "bc", "d"]);
});

it("makes writers wait for a slow reader until it is given up", async () => {
  const writer = new StreamWriter(60_000, { onRead: () => {}, onDisconnect: () => {} });
  const opening = writer.write("open;");
  const reader = (await writer.ready).getReader();
  await reader.read();
  await opening;
  void writer.write("a");
  await vi.advanceTimersByTimeAsync(5);
  const waiting = [writer.write("b"), writer.write("c")];
  const read = await reader.read();
  expect(new TextDecoder().decode(read.value)).toBe("a");
  await Promise.all(waiting);
  const next = writer.write("d");
  writer.rejectPendingWrite(new Error("given up"));
  await expect(next).rejects.toThrow("given up");
});
