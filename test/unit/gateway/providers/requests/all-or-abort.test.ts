import { describe, expect, it } from "vitest";
import { allOrAbort } from "../../../../../src/gateway/providers/requests/all-or-abort.ts";
import { neverAborted } from "../support.ts";

/** Work that ends only when its signal aborts. */
function hanging(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

describe("a group of tasks", () => {
  it("returns all results in order", async () => {
    const parts = await allOrAbort(neverAborted(), [
      () => new Promise<string>((resolve) => setTimeout(() => resolve("one"), 5)),
      async () => "two",
    ]);
    expect(parts).toEqual(["one", "two"]);
  });

  it("runs a few tasks at a time", async () => {
    let running = 0;
    let most = 0;
    const tasks = Array.from({ length: 200 }, (_, index) => async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, index % 3));
      running -= 1;
      return index;
    });
    expect(await allOrAbort(neverAborted(), tasks)).toEqual(tasks.map((_, index) => index));
    expect(most).toBe(10);
  });

  it("ends if one task fails, and starts no other", async () => {
    const failure = new Error("no");
    const others: Promise<string>[] = [];
    const hang = (signal: AbortSignal) => {
      const other = hanging(signal);
      others.push(other);
      return other;
    };
    const all = allOrAbort(neverAborted(), [
      hang,
      hang,
      () => Promise.reject(failure),
      ...Array(50).fill(hang),
    ]);
    await expect(all).rejects.toBe(failure);
    await expect(Promise.any(others)).rejects.toMatchObject({ errors: others.map(() => failure) });
    expect(others).toHaveLength(9);
  });

  it("ends when the caller leaves", async () => {
    const caller = new AbortController();
    const all = allOrAbort(caller.signal, [hanging]);
    caller.abort("left");
    await expect(all).rejects.toBe("left");
  });

  it("does not begin after the caller has left", async () => {
    await expect(allOrAbort(AbortSignal.abort("left"), [async () => "one"])).rejects.toBe("left");
  });
});
