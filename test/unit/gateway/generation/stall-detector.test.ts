import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StallDetector, type StallReason } from "../../../../src/gateway/generation/stall-detector.ts";

const limits = { firstByteMs: 1000, idleMs: 100, answerMs: 2000 };

function watch() {
  const barks: StallReason[] = [];
  return {
    barks,
    dog: new StallDetector(limits, Date.now, (silence) => barks.push(silence)),
  };
}

describe("the stall detector", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("gives the provider its time for the first byte", () => {
    const { barks, dog } = watch();
    dog.beginTurn();
    vi.advanceTimersByTime(999);
    expect(barks).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(barks).toEqual(["first-byte"]);
  });

  it("reports a silent stream, counted from the last byte", () => {
    const { barks, dog } = watch();
    dog.beginTurn();
    vi.advanceTimersByTime(500);
    dog.recordData();
    vi.advanceTimersByTime(60);
    dog.recordData();
    vi.advanceTimersByTime(99);
    expect(barks).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(barks).toEqual(["idle"]);
  });

  it("distinguishes a reader that stopped from a silent provider", () => {
    const { barks, dog } = watch();
    dog.beginTurn();
    dog.recordData();
    vi.advanceTimersByTime(50);
    dog.beginWrite();
    vi.advanceTimersByTime(100);
    expect(barks).toEqual(["stalled-reader"]);
  });

  it("does not blame the provider for the time of a write", () => {
    const { barks, dog } = watch();
    dog.beginTurn();
    dog.recordData();
    dog.beginWrite();
    vi.advanceTimersByTime(90);
    dog.endWrite();
    vi.advanceTimersByTime(90);
    expect(barks).toEqual([]);
    vi.advanceTimersByTime(10);
    expect(barks).toEqual(["idle"]);
  });

  it("reports a reader that reads very slowly", () => {
    const { barks, dog } = watch();
    dog.beginTurn();
    dog.recordData();
    for (let at = 0; at < 20 && barks.length === 0; at++) {
      dog.beginWrite();
      vi.advanceTimersByTime(90);
      dog.recordRead(1);
      vi.advanceTimersByTime(5);
      dog.endWrite();
    }
    expect(barks).toEqual(["stalled-reader"]);
  });

  it("accepts a slow reader that reads enough, for any time", () => {
    const { barks, dog } = watch();
    dog.beginTurn();
    dog.recordData();
    dog.beginWrite();
    for (let at = 0; at < 50; at++) {
      vi.advanceTimersByTime(90);
      dog.recordRead(30);
    }
    dog.endWrite();
    expect(barks).toEqual([]);
  });

  it("accepts a pause of a reader that catches up, or for which nothing waited", () => {
    for (const repays of [
      (dog: StallDetector) => dog.recordRead(1000),
      (dog: StallDetector) => {
        dog.endWrite();
        vi.advanceTimersByTime(99);
        dog.beginWrite();
      },
    ]) {
      const { barks, dog } = watch();
      dog.beginTurn();
      dog.recordData();
      for (let at = 0; at < 5; at++) {
        dog.beginWrite();
        vi.advanceTimersByTime(90);
        repays(dog);
        dog.endWrite();
        vi.advanceTimersByTime(9);
        dog.recordData();
      }
      expect(barks).toEqual([]);
    }
  });

  it("limits the time of an attempt, from its start or its last content", () => {
    for (const content of [false, true]) {
      const { barks, dog } = watch();
      dog.beginAttempt();
      const from = Date.now();
      dog.beginTurn();
      let last = from;
      while (barks.length === 0) {
        vi.advanceTimersByTime(50);
        if (barks.length > 0) break;
        dog.recordData();
        if (content && Date.now() - from < 500) {
          dog.recordContent();
          last = Date.now();
        }
      }
      expect([barks, Date.now() - last]).toEqual([["no-answer"], 2000]);
    }
  });

  it("does not count the time in which content waits for a reader", () => {
    const { barks, dog } = watch();
    dog.beginAttempt();
    dog.beginTurn();
    for (let at = 0; at < 50; at++) {
      dog.recordData();
      dog.beginWrite();
      vi.advanceTimersByTime(90);
      dog.recordRead(1000);
      dog.endWrite();
    }
    expect(barks).toEqual([]);
  });

  it("reports nothing after it was stopped", () => {
    const { barks, dog } = watch();
    dog.beginTurn();
    dog.stop();
    vi.advanceTimersByTime(10_000);
    expect(barks).toEqual([]);
  });
});
