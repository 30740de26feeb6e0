import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { batch, write } from "../unit/archive/support.ts";

test("the archive is there again after a restart, long texts and counts included", async () => {
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
