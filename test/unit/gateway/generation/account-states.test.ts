import { describe, expect, test } from "vitest";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** What lives at one account of a provider: containers, audio, conversations. Later requests must go to that account. */

const createGateway = useMemoryGateway();
const ADMIN_KEY = "the-admin-key-of-this-test";
const ACCOUNTS = ["one", "two", "three", "four", "five", "six"];

function behind(driver: string, reply: (asked: UpstreamRequest) => Reply): Promise<MemoryGateway> {
  const provider = {
    id: "vendor",
    driver,
    base_url: "http://vendor.test/v1",
    models: {},
    strategy: "round_robin",
  } as const;
  const accounts = ACCOUNTS.map((name) => ({
    email: `${name}@accounts.test`,
    token: `sk-account-${name}`,
    provider: "vendor",
  }));
  const keys = [{ key: "sk-first" }, { key: "sk-second" }];
  return createGateway({
    upstream: new ScriptedUpstream(reply),
    env: { ADMIN_KEY },
    config: { providers: [provider], accounts, api_keys: keys },
  });
}

const tokenOf = ({ headers }: UpstreamRequest) =>
  headers.get("x-api-key") ??
  headers.get("x-goog-api-key") ??
  headers.get("authorization")?.slice("Bearer ".length);

interface Case {
  readonly driver: string;
  readonly path: string;
  readonly first: object;
  /** An answer that leaves something at the account. */
  readonly answer: object;
  readonly stream: string;
  /** A request that names it. */
  readonly next: object;
}

const user = [{ role: "user", content: "Hello?" }];
const sse = (...events: object[]) =>
  events.map((each) => `event: ${Object(each).type}\ndata: ${JSON.stringify(each)}\n\n`).join("");

const CASES: readonly (readonly [string, Case])[] = [
  [
    "a container of messages",
    {
      driver: "anthropic",
      path: "/v1/messages",
      first: { model: "vendor/m", max_tokens: 9, messages: user },
      answer: {
        content: [{ type: "text", text: "Hi" }],
        stop_reason: "end_turn",
        container: { id: "container_1" },
      },
      stream: sse(
        { type: "message_start", message: { id: "msg", content: [] } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn", container: { id: "container_1" } } },
        { type: "message_stop" },
      ),
      next: { container: { id: "container_1", skills: [] } },
    },
  ],
  [
    "a container of responses",
    {
      driver: "openai-responses",
      path: "/v1/responses",
      first: { model: "vendor/m", input: "Hello?", store: false },
      answer: { status: "completed", output: [{ type: "code_interpreter_call", container_id: "cntr_1" }] },
      stream: sse(
        {
          type: "response.output_item.done",
          item: { type: "code_interpreter_call", container_id: "cntr_1" },
        },
        { type: "response.completed", response: { status: "completed", output: [] } },
      ),
      next: { tools: [{ type: "code_interpreter", container: "cntr_1" }] },
    },
  ],
  [
    "a conversation of responses",
    {
      driver: "openai-responses",
      path: "/v1/responses",
      first: { model: "vendor/m", input: "Hello?", store: false, conversation: "conv_1" },
      answer: { status: "completed", output: [], conversation: { id: "conv_1" } },
      stream: sse({
        type: "response.completed",
        response: { status: "completed", output: [], conversation: { id: "conv_1" } },
      }),
      next: { conversation: { id: "conv_1" } },
    },
  ],
  [
    "audio of chat completions",
    {
      driver: "openai",
      path: "/v1/chat/completions",
      first: { model: "vendor/m", messages: user, modalities: ["text", "audio"] },
      answer: {
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: "Hi", audio: { id: "audio_1" } },
            finish_reason: "stop",
          },
        ],
      },
      stream: `data: ${JSON.stringify({
        choices: [{ index: 0, delta: { content: "Hi", audio: { id: "audio_1" } }, finish_reason: "stop" }],
      })}\n\ndata: [DONE]\n\n`,
      next: { messages: [...user, { role: "assistant", audio: { id: "audio_1" } }, ...user] },
    },
  ],
];

const ask = async (gateway: MemoryGateway, { path, first }: Case, more: object, key = "sk-first") => {
  const headers = { authorization: `Bearer ${key}` };
  const response = await gateway.post(path, null, { body: JSON.stringify({ ...first, ...more }), headers });
  expect(response.status).toBe(200);
  await response.text();
  await gateway.settle();
  const asked = gateway.upstream.asked.at(-1);
  if (asked === undefined) throw new Error("the provider was not asked");
  return tokenOf(asked);
};

describe.each(CASES)("%s", (_, each) => {
  test.each([true, false])("is used with the account that has it, stream: %s", async (stream) => {
    const gateway = await behind(each.driver, () =>
      stream ? { body: [each.stream] } : { type: "application/json", body: [JSON.stringify(each.answer)] },
    );
    const owner = await ask(gateway, each, { stream });
    for (let turn = 0; turn < ACCOUNTS.length; turn += 1) {
      expect(await ask(gateway, each, { ...each.next, stream })).toBe(owner);
    }
    const others = new Set<string | undefined>();
    for (let turn = 0; turn < ACCOUNTS.length; turn += 1)
      others.add(await ask(gateway, each, { stream, conversation: undefined }));
    expect(others.size).toBeGreaterThan(1);
  });

  test("is left to the provider if its account was deleted", async () => {
    const gateway = await behind(each.driver, () => ({
      type: "application/json",
      body: [JSON.stringify(each.answer)],
    }));
    const owner = await ask(gateway, each, {});
    const admin = { authorization: `Bearer ${ADMIN_KEY}` };
    const email = `${owner?.replace("sk-account-", "")}@accounts.test`;
    const path = `/admin/accounts/${encodeURIComponent(email)}`;
    expect((await gateway.request(path, { method: "DELETE", headers: admin })).status).toBe(200);
    expect(await ask(gateway, each, each.next)).not.toBe(owner);
  });
});
