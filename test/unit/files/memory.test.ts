import { describe, expect, it } from "vitest";
import { memoryFileStores } from "../../../src/files/memory.ts";
import type { KeptFile } from "../../../src/files/store.ts";

const file = (id: string, expiresAt: number): KeptFile => ({
  id,
  account: "one@example.org",
  filename: "a.txt",
  mediaType: "text/plain",
  purpose: "user_data",
  bytes: 3,
  createdAt: 0,
  expiresAt,
});

describe("uploaded files in memory", () => {
  it("are known to their caller alone, until they expire", async () => {
    let now = 0;
    const stores = memoryFileStores(() => now);
    await stores("alice").put(file("f1", 1000));
    expect(await stores("alice").get("f1")).toEqual(file("f1", 1000));
    expect(await stores("bob").get("f1")).toBeNull();
    now = 1000;
    expect(await stores("alice").get("f1")).toBeNull();
  });

  it("are bounded in number: the oldest go first", async () => {
    const store = memoryFileStores(() => 0)("alice");
    for (let n = 0; n <= 10_000; n += 1) await store.put(file(`f${n}`, 1));
    expect(await store.get("f0")).toBeNull();
    expect(await store.get("f1")).not.toBeNull();
    expect(await store.get("f10000")).not.toBeNull();
  });
});
