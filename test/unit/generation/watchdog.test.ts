import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Silence, Watchdog } from "../../../src/generation/watchdog.ts";
import { RequestTimers } from "../../../src/http/request-timers.ts";

const limits = { firstByteMs: 1000, idleMs: 100, answerMs: 2000 };

function watch() {
  const barks: Silence[] = [];
  return {
    barks,
    dog: new Watchdog(limits, Date.now, new RequestTimers(), (silence) => barks.push(silence)),
  };
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

  it("is not put off by a reader that takes a little now and then", () => {
    const { barks, dog } = watch();
    dog.expect();
    dog.heard();
    for (let at = 0; at < 20 && barks.length === 0; at++) {
      dog.writing();
      vi.advanceTimersByTime(90);
      dog.taken(1);
      vi.advanceTimersByTime(5);
      dog.written();
    }
    expect(barks).toEqual(["stalled-reader"]);
  });

  it("lets a reader be slow that takes enough, however long it takes", () => {
    const { barks, dog } = watch();
    dog.expect();
    dog.heard();
    dog.writing();
    for (let at = 0; at < 50; at++) {
      vi.advanceTimersByTime(90);
      dog.taken(30);
    }
    dog.written();
    expect(barks).toEqual([]);
  });

  it("forgives a reader a pause for what it takes afterwards, and for the time in which nothing waited for it", () => {
    for (const repays of [
      (dog: Watchdog) => dog.taken(1000),
      (dog: Watchdog) => {
        dog.written();
        vi.advanceTimersByTime(99);
        dog.writing();
      },
    ]) {
      const { barks, dog } = watch();
      dog.expect();
      dog.heard();
      for (let at = 0; at < 5; at++) {
        dog.writing();
        vi.advanceTimersByTime(90);
        repays(dog);
        dog.written();
        vi.advanceTimersByTime(9);
        dog.heard();
      }
      expect(barks).toEqual([]);
    }
  });

  it("bounds an attempt's answer although the upstream speaks, from its begin or its last content", () => {
    for (const content of [false, true]) {
      const { barks, dog } = watch();
      dog.begin();
      const from = Date.now();
      dog.expect();
      let last = from;
      while (barks.length === 0) {
        vi.advanceTimersByTime(50);
        if (barks.length > 0) break;
        dog.heard();
        if (content && Date.now() - from < 500) {
          dog.progress();
          last = Date.now();
        }
      }
      expect([barks, Date.now() - last]).toEqual([["no-answer"], 2000]);
    }
  });

  it("does not count the time for which a reader keeps content waiting", () => {
    const { barks, dog } = watch();
    dog.begin();
    dog.expect();
    for (let at = 0; at < 50; at++) {
      dog.heard();
      dog.writing();
      vi.advanceTimersByTime(90);
      dog.taken(1000);
      dog.written();
    }
    expect(barks).toEqual([]);
  });

  it("is quiet once stopped", () => {
    const { barks, dog } = watch();
    dog.expect();
    dog.stop();
    vi.advanceTimersByTime(10_000);
    expect(barks).toEqual([]);
  });
});
