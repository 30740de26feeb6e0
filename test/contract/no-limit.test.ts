import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Accounts without a limit. */

const running = useAdmin();
const { admin } = running;
const ACCOUNTS = ["key-0", "key-1", "key-2", "key-3"];
const AT_ONCE = 40;

/** Requests that the backend holds until they are answered, with the account's key. */
const held: (() => void)[] = [];
let isHolding = false;
/** The account that the backend refuses; empty: none. */
let refused = "";
/** The account that answered each conversation, by its first message. */
const answered = new Map<string, string[]>();

const backend = await serve((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const key = String(request.headers.authorization).slice("Bearer ".length);
    const { messages } = JSON.parse(Buffer.concat(pieces).toString());
    const answer = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (key === refused) return answer(401, { error: { message: "unknown key" } });
    const conversation: string = messages[0].content;
    answered.set(conversation, [...(answered.get(conversation) ?? []), key]);
    const choices = [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }];
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const finish = () =>
      answer(200, { id: "x", object: "chat.completion", created: 1, model: "m", choices, usage });
    if (isHolding) held.push(finish);
    else finish();
  });
});
afterAll(() => backend.close());

beforeAll(async () => {
  const provider = { id: "free", driver: "openai", base_url: `${backend.origin}/v1` };
  expect(await admin("POST", "/admin/providers", provider)).toMatchObject({ body: { max_concurrent: 0 } });
  const accounts = ACCOUNTS.map((token) => ({ token, name: token, provider: "free" }));
  expect((await admin("POST", "/admin/config", { accounts })).status).toBe(200);
});

const ask = async (conversation: string, turns: readonly string[] = []) => {
  const messages = [conversation, ...turns].map((content, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content,
  }));
  const response = await running.post("/v1/chat/completions", { model: "free/m", messages });
  await response.text();
  return response.status;
};
const release = () => {
  isHolding = false;
  for (const finish of held.splice(0)) finish();
};
const status = async () => (await admin("GET", "/admin/queue/status")).body;

describe("accounts without a limit", () => {
  it("serve many simultaneous requests, which status, history and usage count", async () => {
    for (let n = 0; n < 8; n += 1) expect(await ask(`first ${n}`)).toBe(200);
    isHolding = true;
    const asking = Array.from({ length: AT_ONCE }, (_, n) => ask(`at once ${n}`));
    await until(
      async () => held.length,
      (count) => count === AT_ONCE,
    );
    const { leases } = await until(status, ({ in_use }) => in_use === AT_ONCE);
    expect(leases).toHaveLength(AT_ONCE);
    release();
    expect(new Set(await Promise.all(asking))).toEqual(new Set([200]));
    await until(status, ({ in_use }) => in_use === 0);
    const total = AT_ONCE + 8;
    await until(
      async () => (await admin("GET", "/admin/chat-history?limit=100")).body,
      ({ items }) => Object(items).length === total,
    );
    await until(
      async () => JSON.stringify((await admin("GET", "/admin/usage?granularity=total&group_by=key")).body),
      (usage) => usage.includes(`"requests":${total},`),
    );
  });

  it("keep each conversation at one account", async () => {
    for (let n = 0; n < 12; n += 1) {
      expect(await ask(`talk ${n}`)).toBe(200);
      expect(await ask(`talk ${n}`, ["ok", "go on"])).toBe(200);
      expect(await ask(`talk ${n}`, ["ok", "go on", "ok", "and on"])).toBe(200);
      expect(new Set(answered.get(`talk ${n}`)).size, `conversation ${n}`).toBe(1);
    }
  });

  it("cool down when they fail, and other accounts answer every request", async () => {
    refused = "key-1";
    for (let n = 0; n < 20; n += 1) expect(await ask(`refused ${n}`)).toBe(200);
    const { cooldowns } = await status();
    expect(cooldowns).toHaveLength(1);
    refused = "";
  });

  it("count towards a configured global limit", async () => {
    expect((await admin("PUT", "/admin/settings", { runtime: { global_max_inflight: 3 } })).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    isHolding = true;
    const asking = Array.from({ length: 6 }, (_, n) => ask(`limited ${n}`));
    await until(
      async () => held.length,
      (count) => count === 3,
    );
    await until(status, ({ waiting }) => waiting === 3);
    release();
    expect(new Set(await Promise.all(asking))).toEqual(new Set([200]));
    await admin("PUT", "/admin/settings", { runtime: { global_max_inflight: 0 } });
  });
});
