import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryBudget } from "../../../../src/core/http/memory-budget.ts";
import {
  respondJsonWithinBudget,
  respondWithinBudget,
} from "../../../../src/core/routing/budgeted-response.ts";

const IDLE_MS = 10_000;
const MIB = 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What a request has that gets an answer, of a budget of 16 MiB: 4 for strangers. */
function asking(method = "GET") {
  const budget = new MemoryBudget(16 * MIB);
  const kept: Promise<void>[] = [];
  const context = {
    memory: budget.createReservation(),
    keepUntil: (sent: Promise<void>) => void kept.push(sent),
    platform: { variables: { idleTimeoutMs: IDLE_MS } },
    recordOutcome: vi.fn(),
    request: new Request("http://gateway.test/", { method }),
    waitUntil: () => undefined,
  };
  return { budget, context, kept };
}

describe("a whole answer", () => {
  it("counts in the memory budget until it is read, and arrives complete", async () => {
    const { budget, context, kept } = asking();
    const text = "añ".repeat(MIB / 2);
    const response = await respondWithinBudget(context, text, { headers: { "content-type": "text/plain" } });
    expect(budget.used).toBeGreaterThan(MIB);
    expect(await response.text()).toBe(text);
    await Promise.all(kept);
    context.memory.end();
    expect(budget.used).toBe(0);
    expect(response.headers.get("content-type")).toBe("text/plain");
  });

  it("is recorded before its first byte is sent", async () => {
    const { context } = asking();
    const response = await respondWithinBudget(context, "x".repeat(MIB), { status: 202 });
    expect(context.recordOutcome.mock.calls).toEqual([[202]]);
    await response.body?.cancel();
  });

  it("is dropped if the client reads nothing or leaves", async () => {
    const unread = asking();
    const response = await respondWithinBudget(unread.context, "x".repeat(MIB), {});
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.byteLength).toBeLessThan(MIB / 8);
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    await Promise.all(unread.kept);
    await expect(reader?.read()).rejects.toThrow("reads nothing");
    const left = asking();
    const { body } = await respondWithinBudget(left.context, "x".repeat(MIB), {});
    await body?.cancel();
    await Promise.all(left.kept);
  });

  it("is refused without memory for it, while a short answer needs none", async () => {
    const { budget, context, kept } = asking();
    await expect(respondWithinBudget(context, "x".repeat(5 * MIB), {})).rejects.toMatchObject({
      status: 413,
    });
    const short = await respondJsonWithinBudget(context, { text: "short" });
    expect(await short.json()).toEqual({ text: "short" });
    const { context: head } = asking("HEAD");
    await respondWithinBudget(head, "x".repeat(5 * MIB), {});
    expect([budget.used, kept, head.memory.bytes]).toEqual([0, [], 0]);
  });
});
