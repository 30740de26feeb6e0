import { describe, expect, test } from "vitest";
import { type MemoryGateway, useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { type Reply, ScriptedUpstream } from "../../../../support/scripted-upstream.ts";
import { wantsWhole } from "../../../../support/whole-answers.ts";

const make = useMemoryGateway();

const USAGE = {
  input_tokens: 3,
  output_tokens: 2,
  cache_creation_input_tokens: 40,
  cache_read_input_tokens: 500,
};
const MESSAGE = {
  type: "message",
  id: "m1",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: USAGE,
};
const event = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const STREAM = [
  event("message_start", { message: { id: "m1", usage: USAGE } }),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "Hi" } }),
  event("content_block_stop", { index: 0 }),
  event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
  event("message_stop", {}),
];

/** A gateway in front of a backend; `refused` is what it does not take. */
function createGateway(refused = "nothing of the kind"): Promise<MemoryGateway> {
  const upstream = new ScriptedUpstream((asked): Reply => {
    if (asked.body.includes(refused)) {
      const message = `messages.0.content.0.text.${refused}: Extra inputs are not permitted`;
      return { status: 400, json: { type: "error", error: { type: "invalid_request_error", message } } };
    }
    return wantsWhole(asked.body) ? { json: MESSAGE } : { body: STREAM };
  });
  return make({ upstream, env: { PROVIDER_DRIVER: "anthropic" }, config: { accounts: [{ token: "key" }] } });
}

const mark = { cache_control: { type: "ephemeral" } };
const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (said: string, more: object = {}) => ({ type: "text", text: said, ...more });
const input_schema = { type: "object", properties: {} };
const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: [text("seen")] };

const REQUEST = {
  model: "provider-v4-flash-nothinking",
  max_tokens: 100,
  system: [text("Be kind."), text("Be brief.", hour), text("It is Monday.")],
  tools: [
    { name: "look", input_schema },
    { name: "go", input_schema, ...hour },
  ],
  messages: [
    { role: "user", content: [text("What is there?", mark), text("And here?")] },
    { role: "assistant", content: [text("I look."), { ...call, ...mark }] },
    { role: "user", content: [{ ...result, ...mark }, text("Well?", mark)] },
  ],
};

describe("a message-style backend's cache", () => {
  test("is used where the caller marks it", async () => {
    const gateway = await createGateway();
    await gateway.post("/v1/messages", REQUEST);
    expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject({
      system: [text("Be kind.\n\nBe brief.", hour), text("It is Monday.")],
      tools: [{ name: "look" }, { name: "go", ...hour }],
      messages: REQUEST.messages,
    });
    expect(gateway.upstream.asked.at(-1)?.body.match(/cache_control/g)).toHaveLength(6);
  });

  test("is used up to the end only if the caller asks for it", async () => {
    const gateway = await createGateway();
    const messages = [{ role: "user", content: "Hello" }];
    await gateway.post("/v1/messages", { ...REQUEST, tools: [], system: "Be kind.", messages, ...hour });
    expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject({ system: "Be kind.", ...hour });
    await gateway.post("/v1/messages", {
      ...REQUEST,
      tools: [],
      system: [text("Be"), text("kind.")],
      messages,
    });
    expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject({ system: "Be\n\nkind." });
    expect(gateway.upstream.asked.at(-1)?.body).not.toContain("cache_control");
  });

  test("is not used with a server that does not support it", async () => {
    const gateway = await createGateway("cache_control");
    expect((await gateway.post("/v1/messages", REQUEST)).status).toBe(200);
  });

  test.each([false, true])("reports the tokens read and written (stream: %s)", async (stream) => {
    const gateway = await createGateway();
    const body = await (await gateway.post("/v1/messages", { ...REQUEST, stream })).text();
    expect(body).toMatch(/"cache_creation_input_tokens":40\b/);
    expect(body).toMatch(/"cache_read_input_tokens":500\b/);
  });
});
