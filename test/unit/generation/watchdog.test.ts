import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Silence, Watchdog } from "../../../src/generation/watchdog.ts";

const limits = { firstByteMs: 1000, idleMs: 100 };

function watch() {
  const barks: Silence[] = [];
  return { barks, dog: new Watchdog(limits, Date.now, (silence) => barks.push(silence)) };
}

describe("the watchdog", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("gives the upstream its time for the first byte", () => {
    const { barks, dog } = watch();
    dog.expect();
    vi.advanceTimersByTime(999);
    expect(barks).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(barks).toEqual(["first-byte"]);
  });

  it("barks once the stream has been silent, counted from the last byte", () => {
    const { barks, dog } = watch();
    dog.expect();
    vi.advanceTimersByTime(500);
    dog.heard();
    vi.advanceTimersByTime(60);
    dog.heard();
    vi.advanceTimersByTime(99);
    expect(barks).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(barks).toEqual(["idle"]);
  });

  it("tells a reader that stopped reading from an upstream that fell silent", () => {
    const { barks, dog } = watch();
    dog.expect();
    dog.heard();
    vi.advanceTimersByTime(50);
    dog.writing();
    vi.advanceTimersByTime(100);
    expect(barks).toEqual(["stalled-reader"]);
  });

  it("does not blame the upstream for the time that a write took", () => {
    const { barks, dog } = watch();
    dog.expect();
    dog.heard();
    dog.writing();
    vi.advanceTimersByTime(90);
    dog.written();
    vi.advanceTimersByTime(90);
    expect(barks).toEqual([]);
    vi.advanceTimersByTime(10);
    expect(barks).toEqual(["idle"]);
  });

  it("is quiet once stopped", () => {
    const { barks, dog } = watch();
    dog.expect();
    dog.stop();
    vi.advanceTimersByTime(10_000);
    expect(barks).toEqual([]);
  });
});
