import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PipedCopy } from "../../../../../src/gateway/generation/native/piped-copy.ts";
import type { BodyConsumer } from "../../../../../src/gateway/generation/provider-body.ts";
import { StallDetector, type StallReason } from "../../../../../src/gateway/generation/stall-detector.ts";

const IDLE_MS = 10_000;
const READ_BYTES = 16 * 1024;

interface CopyOptions {
  readonly readerLimitMs?: number;
  /** Whether each read of the copy makes the provider send more. */
  readonly isPulled?: boolean;
}

/** A copy of an answer, and what its consumer gets. */
function copyOf({ readerLimitMs = IDLE_MS, isPulled = false }: CopyOptions = {}) {
  let isOpen = isPulled;
  let controller: ReadableByteStreamController | undefined;
  const body = new ReadableStream({
    type: "bytes",
    start: (started) => {
      controller = started;
    },
    pull: (pulled) => {
      if (isOpen) pulled.enqueue(new Uint8Array(2_000));
    },
  });
  const piped = Promise.withResolvers<void>();
  const abort = new AbortController();
  const stalls: StallReason[] = [];
  const limits = { firstByteMs: IDLE_MS, idleMs: IDLE_MS, answerMs: IDLE_MS };
  const copy = new PipedCopy(body, {
    now: Date.now,
    stallDetector: new StallDetector(limits, Date.now, (reason) => stalls.push(reason)),
    shortestLimitMs: IDLE_MS,
    readerLimitMs,
    piped: piped.promise,
    signal: abort.signal,
  });
  const texts: string[] = [];
  const consumer: BodyConsumer = {
    take: (bytes) => {
      texts.push(new TextDecoder().decode(bytes));
      return undefined;
    },
  };
  return {
    copy,
    consumer,
    texts,
    stalls,
    piped,
    abort,
    push: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    close: () => {
      isOpen = false;
      controller?.close();
      controller?.byobRequest?.respond(0);
    },
    fail: (error: Error) => controller?.error(error),
  };
}

describe("the copy of a piped answer", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("is read about once a second during the answer, and completely at its end", async () => {
    const { copy, consumer, texts, piped, push, close } = copyOf();
    const reading = copy.read(consumer);
    push("one ");
    await vi.advanceTimersByTimeAsync(400);
    expect(texts).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(texts.join("")).toBe("one ");
    push("two ");
    push("three ");
    close();
    piped.resolve();
    expect(await reading).toBe(true);
    expect(texts.join("")).toBe("one two three ");
    expect(await copy.endsWithin(0)).toBe(true);
  });

  test("ends early if its consumer is finished, and is then read to its end", async () => {
    const { copy, consumer, texts, push, close } = copyOf();
    const reading = copy.read({ ...consumer, isOver: () => texts.join("").includes("end") });
    push("the end");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await reading).toBe(false);
    const ending = copy.endsWithin(200);
    push("more");
    close();
    expect(await ending).toBe(true);
    expect(texts).toEqual(["the end"]);
  });

  test("reports if the provider does not end the answer in time", async () => {
    const { copy, consumer, push } = copyOf();
    const reading = copy.read({ ...consumer, isOver: () => true });
    push("the end");
    await vi.advanceTimersByTimeAsync(1_000);
    await reading;
    const ending = copy.endsWithin(200);
    await vi.advanceTimersByTimeAsync(200);
    expect(await ending).toBe(false);
  });

  test("reports a broken connection after the bytes before it", async () => {
    const { copy, consumer, texts, piped, push, fail } = copyOf();
    const reading = copy.read(consumer);
    const failure = expect(reading).rejects.toThrow("reset");
    push("one ");
    await vi.advanceTimersByTimeAsync(500);
    fail(new TypeError("reset"));
    piped.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    await failure;
    expect(texts).toEqual(["one "]);
  });

  test("is read at once if the attempt is aborted", async () => {
    const { copy, consumer, texts, abort, push, close } = copyOf();
    abort.abort();
    push("one");
    close();
    expect(await copy.read(consumer)).toBe(true);
    expect(texts).toEqual(["one"]);
  });

  test("detects that a caller reads nothing, if only the copy's reads make the provider continue", async () => {
    const { copy, consumer, stalls, abort, close } = copyOf({ readerLimitMs: 3_000, isPulled: true });
    const reading = copy.read(consumer);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(stalls).toEqual([]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(new Set(stalls)).toEqual(new Set(["stalled-reader"]));
    close();
    abort.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await reading).toBe(true);
  });

  test("does not blame a caller if the provider is slow or sends much at once", async () => {
    const { copy, consumer, stalls, piped, push, close } = copyOf({ readerLimitMs: 3_000 });
    const reading = copy.read(consumer);
    for (let second = 0; second < 20; second += 1) {
      push("x".repeat(second % 2 === 0 ? 10 * READ_BYTES : 10));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(stalls).toEqual([]);
    close();
    piped.resolve();
    expect(await reading).toBe(true);
  });
});
