import { describe, expect, it } from "vitest";
import { MemoryResponseStore, memoryResponseStores } from "../../../src/responses/memory.ts";
import type { StoredResponse } from "../../../src/responses/store.ts";

function response(id: string, expiresAt: number, body = "{}"): StoredResponse {
  return { id, body, messages: [], expiresAt };
}

describe("responses in memory", () => {
  it("are there until they expire", async () => {
    let now = 0;
    const store = new MemoryResponseStore(() => now);
    await store.put(response("a", 1000));
    now = 999;
    expect(await store.get("a")).toMatchObject({ id: "a" });
    now = 1000;
    expect(await store.get("a")).toBeNull();
    expect(store.empty).toBe(true);
  });

  it("go, the oldest first, when they are too large together", async () => {
    const store = new MemoryResponseStore(() => 0, 250);
    for (const id of ["a", "b", "c"]) await store.put(response(id, 1000, "x".repeat(100)));
    expect(await Promise.all(["a", "b", "c"].map((id) => store.get(id)))).toMatchObject([
      null,
      { id: "b" },
      { id: "c" },
    ]);
  });

  it("are replaced under the same id, and count once", async () => {
    const store = new MemoryResponseStore(() => 0, 250);
    for (let n = 0; n < 5; n += 1) await store.put(response("a", 1000, `${n}`.repeat(100)));
    await store.put(response("b", 1000, "x".repeat(100)));
    expect(await store.get("a")).toMatchObject({ body: "4".repeat(100) });
  });

  it("belong to one caller", async () => {
    const stores = memoryResponseStores(() => 0);
    await stores("ann").put(response("a", 1000));
    expect(await stores("bob").get("a")).toBeNull();
    expect(await stores("ann").get("a")).not.toBeNull();
  });
});
