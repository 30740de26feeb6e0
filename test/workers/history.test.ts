import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { batch, capture, write } from "../unit/records/archive/support.ts";

test("keeps the archive after a restart, including long texts and counts", async () => {
  const object = () => env.HISTORY.getByName("restart");
  const content = "\u{1f600}".repeat(400_000);
  const metrics = { polygate_http_requests_total: 2 };
  await object().write(batch({ records: [write("a", {}, { content }), write("b")], metrics }));
  await abortAllDurableObjects();
  await object().write(batch({ metrics }));
  const kept = await object().readHistory("a");
  expect(kept !== null && "content" in kept && kept.content === content).toBe(true);
  expect((await object().listHistory({ offset: 0, count: 10, q: "" })).total).toBe(2);
  expect(await object().metrics()).toEqual({ polygate_http_requests_total: 4 });
});

test("keeps a cleared archive cleared after a restart, and loses nothing of an isolate whose clock is behind", async () => {
  const object = () => env.HISTORY.getByName("cleared");
  await object().clearHistory();
  await object().clearCaptures();
  await abortAllDurableObjects();
  const sentAt = Date.now() - 3_600_000;
  // By the isolate's clock both began an hour and more ago.
  const records = [
    write("before", { created_at: sentAt - 60_000 }),
    write("after", { created_at: sentAt + 1 }),
  ];
  const captures = records.map(({ summary }) => capture(summary.id, { at: summary.created_at }));
  await object().write(batch({ sentAt, records, captures }));
  const { items } = await object().listHistory({ offset: 0, count: 10, q: "" });
  expect(items.map(({ id }) => id)).toEqual(["after"]);
  expect((await object().listCaptures()).map(({ id }) => id)).toEqual(["after"]);
  expect(await object().clearHistory()).toBe(1);
  expect(await object().clearCaptures()).toBe(1);
});
