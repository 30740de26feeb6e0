import { expect, test } from "vitest";
import { MemoryBudget } from "../../../../src/core/http/memory-budget.ts";
import { SocketPipe } from "../../../../src/gateway/passthrough/socket-pipe.ts";

const MESSAGE = "x".repeat(300_000);

/** A pipe whose receiver takes messages when told, or whose runtime reports nothing. */
function createPipe(reports: boolean) {
  const budget = new MemoryBudget(1_000_000_000);
  const memory = budget.createReservation();
  const taken: (() => void)[] = [];
  let isPaused = false;
  const noop = () => undefined;
  const from = {
    send: () => null,
    close: noop,
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
    },
  };
  const to = {
    send: () => (reports ? new Promise<void>((resolve) => taken.push(resolve)) : null),
    close: noop,
  };
  return { pipe: new SocketPipe(memory, from, to), taken, memory, isPaused: () => isPaused };
}

test("a sender waits for a slow receiver, and continues", async () => {
  const { pipe, taken, memory, isPaused } = createPipe(true);
  for (let sent = 0; sent < 8; sent += 1) expect(pipe.send(MESSAGE)).toBe(true);
  expect(isPaused()).toBe(true);
  for (const take of taken) take();
  await Promise.resolve();
  await Promise.resolve();
  expect(isPaused()).toBe(false);
  expect(memory.bytes).toBe(0);
});

test("without reports, unread messages are bounded until the receiver sends something", () => {
  const { pipe, memory } = createPipe(false);
  let sent = 0;
  while (sent < 1_000 && pipe.send(MESSAGE)) sent += 1;
  expect(sent).toBeLessThan(20);
  expect(memory.bytes).toBeGreaterThan(0);
  pipe.confirmTaken();
  expect(memory.bytes).toBe(0);
  expect(pipe.send(MESSAGE)).toBe(true);
});
