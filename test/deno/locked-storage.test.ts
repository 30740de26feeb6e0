import { afterAll, beforeAll, expect, it } from "vitest";
import { DenoGateway } from "../support/deno.ts";
import { until } from "../support/until.ts";

let gateway: DenoGateway;
beforeAll(async () => {
  gateway = await DenoGateway.start();
});
afterAll(() => gateway?.close());

const KEY = "sk-limited";

const send = (path: string, body: unknown, headers: Record<string, string>, method = "POST") =>
  gateway.fetch(path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const ask = (key: string) =>
  send(
    "/v1/chat/completions",
    { model: "gpt-4o", messages: [{ role: "user", content: "[[say:here]]" }] },
    { authorization: `Bearer ${key}` },
  );
const admin = { authorization: "Bearer admin" };
const read = async <T>(path: string): Promise<T> => (await gateway.fetch(path, { headers: admin })).json();
const queue = () => read<{ in_use: number; available: number; waiting: number }>("/admin/queue/status");
const keys = () => read<{ config: { api_keys: { key: string }[] } }>("/admin/config/export");

/** Requests of each style, with where its error says what is wrong. */
const STYLES = {
  "/v1/chat/completions": { model: "gpt-4o", messages: [{ role: "user", content: "x" }] },
  "/v1/messages": { model: "claude-sonnet-4-5", max_tokens: 9, messages: [{ role: "user", content: "x" }] },
  "/v1/responses": { model: "gpt-4o", input: "x" },
  "/api/chat": { model: "gpt-4o", stream: false, messages: [{ role: "user", content: "x" }] },
} as const;

it("recovers by itself after its storage could not be written for a while", async () => {
  const added = await send(
    "/admin/keys",
    { key: KEY, limits: { requests_per_minute: 1_000, max_parallel: 3 } },
    admin,
  );
  expect(added.status).toBe(200);
  const unlock = gateway.lockStorage();
  try {
    for (const [path, body] of Object.entries(STYLES)) {
      const answer = await send(path, body, { authorization: `Bearer ${KEY}`, "x-request-id": "req-locked" });
      expect([path, answer.status]).toEqual([path, 500]);
      expect(await answer.text()).toContain("internal error (request req-locked)");
    }
    // Of this key nothing is counted: it needs no storage. What history cannot keep is no failure.
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask("sk-dev")));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await queue()).toMatchObject({ in_use: 0, waiting: 0 });
    const refused = await send("/admin/keys", { key: "sk-never" }, admin);
    expect(refused.status).toBe(500);
    expect((await keys()).config.api_keys.map(({ key }) => key)).not.toContain("sk-never");
  } finally {
    unlock();
  }
  expect(await queue()).toMatchObject({ in_use: 0, available: 3, waiting: 0 });
  const answers = await Promise.all(Array.from({ length: 3 }, () => ask(KEY)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await send("/admin/keys", { key: "sk-later" }, admin)).status).toBe(200);
  expect((await keys()).config.api_keys.map(({ key }) => key)).toEqual(["sk-dev", KEY, "sk-later"]);
  await until(queue, ({ in_use }) => in_use === 0);
});
