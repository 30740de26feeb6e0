import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { StoredResponse } from "../../src/core/ports/responses.ts";
import type { Env } from "../../src/runtime/cloudflare/env.ts";
import { createResponseStore, eraseCaller } from "../../src/runtime/cloudflare/response-store.ts";

const bound: Env = env;
const quota = { characters: 10_000, objects: 2 };
const store = (owner = "one", startedAt = Date.now()) => createResponseStore(bound, owner, startedAt, quota);
const response = (id: string, livesMs = 60_000, text = "hello"): StoredResponse => ({
  id,
  body: JSON.stringify({ id, text }),
  messages: [{ role: "user", parts: [{ type: "text", text }] }],
  expiresAt: Date.now() + livesMs,
});
const keys = async () => (await bound.RESPONSES_BUCKET?.list())?.objects.map(({ key }) => key) ?? [];

test("keeps the responses of each caller separate in a bucket, and deletes them", async () => {
  const kept = ["a", "b", "c", "../x/\ud800"].map((id) => response(id));
  for (const each of kept) await store().put(each);
  for (const each of kept) expect(await store().get(each.id)).toEqual(each);
  expect(await store("another").get("a")).toBeNull();
  expect(await store().get("x".repeat(5_000))).toBeNull();
  expect([await store("another").remove("a"), await store().remove("a"), await store().remove("a")]).toEqual([
    false,
    true,
    false,
  ]);
  expect(await store().get("a")).toBeNull();
  expect(await keys()).toHaveLength(3);
});

test("deletes expired responses", async () => {
  const owner = "expiry";
  await store(owner).put(response("read", -1));
  await store(owner).put(response("removed", -1));
  expect(await store(owner).get("read")).toBeNull();
  expect(await store(owner).remove("removed")).toBe(false);
  expect((await keys()).filter((key) => key.includes(owner))).toEqual([]);
});

test("does not store a response that exceeds the limit by itself", async () => {
  await store("long").put(response("a", 60_000, "x".repeat(10_000)));
  expect(await store("long").get("a")).toBeNull();
});

test("finds responses from before the bucket was bound, and can delete them", async () => {
  const kept = response("old");
  await env.RESPONSE_STORE.getByName("before").put(kept, 0);
  expect(await store("before").get("old")).toEqual(kept);
  expect(await store("before").remove("old")).toBe(true);
  expect(await store("before").get("old")).toBeNull();
});

test("stores nothing in bucket and object for a request that began before an erasure", async () => {
  const owner = "erased";
  await store(owner).put(response("early"));
  expect(await eraseCaller(bound, owner)).toBe(1);
  const before = Date.now() - 60_000;
  await store(owner, before).put(response("late"));
  const object = env.RESPONSE_STORE.getByName(owner);
  await object.put(response("late"), 60_000);
  expect(await store(owner).get("late")).toBeNull();
  expect((await keys()).filter((key) => key.includes(owner))).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const kept = response("new");
  await store(owner, Date.now()).put(kept);
  expect(await store(owner).get("new")).toEqual(kept);
  expect(await eraseCaller(bound, owner)).toBe(1);
});
