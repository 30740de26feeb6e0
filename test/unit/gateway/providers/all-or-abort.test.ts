import { describe, expect, it } from "vitest";
import { allOrAbort } from "../../../../src/gateway/providers/all-or-abort.ts";
import { neverAborted } from "./support.ts";

/** Work that ends when it is told to. */
function hanging(signal: AbortSignal): Promise<string> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

describe("what belongs together", () => {
  it("is there when all parts are, in their order", async () => {
    const parts = await allOrAbort(neverAborted(), () => [
      new Promise<string>((resolve) => setTimeout(() => resolve("one"), 5)),
      Promise.resolve("two"),
    ]);
    expect(parts).toEqual(["one", "two"]);
  });

  it("ends when one part fails: nothing of it goes on", async () => {
    const failure = new Error("no");
    const others: Promise<string>[] = [];
    const all = allOrAbort(neverAborted(), (signal) => {
      others.push(hanging(signal), hanging(signal));
      return [...others, Promise.reject(failure)];
    });
    await expect(all).rejects.toBe(failure);
    await expect(Promise.any(others)).rejects.toMatchObject({ errors: [failure, failure] });
  });

  it("ends when the caller does", async () => {
    const caller = new AbortController();
    const all = allOrAbort(caller.signal, (signal) => [hanging(signal)]);
    caller.abort("left");
    await expect(all).rejects.toBe("left");
  });
});
