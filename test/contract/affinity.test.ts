import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Which account gets a request: conversations stay with their account. */

const running = useAdmin();

const CONVERSATIONS = 40;
const TURNS = 8;
const AT_ONCE = 8;
const accountsOf = (provider: string) => Array.from({ length: 8 }, (_, index) => `${provider}-key-${index}`);

/** The account that is limited, and refuses with 429; empty: none. */
let limited = "";
/** The accounts that answered each conversation, by its first message. */
const answered = new Map<string, string[]>();

/** A backend of both styles: it takes 20 ms for an answer, and notes which account it got. */
const backend = await serve((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const { authorization = "", "x-api-key": key = authorization.slice("Bearer ".length) } = request.headers;
    const body: { messages: { content: string }[] } = JSON.parse(Buffer.concat(pieces).toString());
    if (key === limited) {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "3600" });
      response.end(JSON.stringify({ error: { message: "slow down" } }));
      return;
    }
    const conversation = body.messages[0]?.content ?? "";
    answered.set(conversation, [...(answered.get(conversation) ?? []), String(key)]);
    const answer = request.url?.endsWith("/messages")
      ? {
          type: "message",
          role: "assistant",
          content: [{ type: "text", text: "ok" }],
          stop_reason: "end_turn",
        }
      : { choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] };
    setTimeout(() => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: "x", model: "m", usage: {}, ...answer }));
    }, 20);
  });
});
afterAll(() => backend.close());

beforeAll(async () => {
  for (const [id, driver, path] of [
    ["chat", "openai", "/v1"],
    ["mess", "anthropic", ""],
  ] as const) {
    const provider = { id, driver, base_url: `${backend.origin}${path}`, account_max_inflight: 2 };
    expect((await running.admin("POST", "/admin/providers", provider)).status).toBe(200);
  }
  const accounts = ["chat", "mess"].flatMap((provider) =>
    accountsOf(provider).map((token) => ({ token, provider })),
  );
  expect((await running.admin("POST", "/admin/config", { accounts })).status).toBe(200);
});

type Ask = (conversation: string, turn: number) => Promise<Response>;

/** The messages of a turn: all earlier ones with their answers, and a new one. */
function messagesOf(conversation: string, turn: number) {
  const earlier = Array.from({ length: turn }, (_, index) => [
    { role: "user", content: index === 0 ? conversation : `turn ${index}` },
    { role: "assistant", content: "ok" },
  ]);
  return [...earlier.flat(), { role: "user", content: turn === 0 ? conversation : `turn ${turn}` }];
}

const askChat: Ask = (conversation, turn) =>
  running.post("/v1/chat/completions", { model: "chat/m", messages: messagesOf(conversation, turn) });

const askMessages: Ask = (conversation, turn) =>
  running.post("/v1/messages", {
    model: "mess/m",
    max_tokens: 99,
    metadata: { user_id: `user_1_account__session_${conversation.replaceAll(" ", "-")}` },
    messages: messagesOf(conversation, turn),
  });

async function holdConversations(ask: Ask, name: string): Promise<string[][]> {
  const names = Array.from({ length: CONVERSATIONS }, (_, index) => `${name} ${index}`);
  const remaining = [...names];
  const client = async () => {
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift()) {
      for (let turn = 0; turn < TURNS; turn += 1) {
        const response = await ask(next, turn);
        expect(response.status, await response.text()).toBe(200);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return names.map((conversation) => answered.get(conversation) ?? []);
}

const countMoves = (accounts: readonly string[]) =>
  accounts.filter((account, turn) => turn > 0 && account !== accounts[turn - 1]).length;

describe.each([
  ["chat", "chat", askChat],
  ["messages", "mess", askMessages],
] as const)("conversations of the style %s", (style, provider, ask) => {
  it("stay with their accounts", async () => {
    const conversations = await holdConversations(ask, `${style} well`);
    const moves = conversations.map(countMoves);
    expect(moves.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(
      0.05 * CONVERSATIONS * (TURNS - 1),
    );
    expect(Math.max(...moves)).toBeLessThanOrEqual(1);
    expect(new Set(conversations.flat())).toEqual(new Set(accountsOf(provider)));
  }, 60_000);

  it("move once when their account is limited, and stay where they went", async () => {
    const [account = ""] = answered.get(`${style} well 0`) ?? [];
    limited = "";
    const half = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        for (let turn = 0; turn < 3; turn += 1) await ask(`${style} early ${index}`, turn);
        return `${style} early ${index}`;
      }),
    );
    limited = account;
    for (const conversation of half)
      for (let turn = 3; turn < TURNS; turn += 1) expect((await ask(conversation, turn)).status).toBe(200);
    const conversations = await holdConversations(ask, `${style} limited`);
    limited = "";
    const all = [...conversations, ...half.map((conversation) => answered.get(conversation) ?? [])];
    const moves = all.map(countMoves);
    expect(Math.max(...moves)).toBeLessThanOrEqual(1);
    const later = conversations.map(countMoves).reduce((sum, count) => sum + count, 0);
    expect(later).toBeLessThanOrEqual(0.05 * CONVERSATIONS * (TURNS - 1));
    expect(new Set(conversations.flat())).toEqual(
      new Set(accountsOf(provider).filter((id) => id !== account)),
    );
  }, 60_000);
});

it("changes the account of a conversation each time if the provider's accounts take turns", async () => {
  expect((await running.admin("PUT", "/admin/providers/chat", { strategy: "round_robin" })).status).toBe(200);
  for (let turn = 0; turn < 4; turn += 1) await (await askChat("in turns", turn)).text();
  expect(new Set(answered.get("in turns")).size).toBe(4);
  const { body } = await running.admin("GET", "/admin/providers/chat");
  expect(body).toMatchObject({ strategy: "round_robin", affinity_wait_ms: 500 });
});
