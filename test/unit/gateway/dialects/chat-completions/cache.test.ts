import { expect, it } from "vitest";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../../support/scripted-upstream.ts";

/** Cache marks of chat-completions callers reach backends that know them, at the place where they were put. */

const make = useMemoryGateway();

const MESSAGE = {
  type: "message",
  id: "m1",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 3, output_tokens: 2 },
};

const mark = { cache_control: { type: "ephemeral" } };
const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (said: string, more: object = {}) => ({ type: "text", text: said, ...more });
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
const parameters = { type: "object", properties: {} };

/** The request that a backend of the message style gets. */
async function sent(body: object, env: Record<string, string> = { PROVIDER_DRIVER: "anthropic" }) {
  const gateway = await make({
    upstream: new ScriptedUpstream(() => ({ json: MESSAGE })),
    env,
    config: { accounts: [{ token: "key" }] },
  });
  const response = await gateway.post("/v1/chat/completions", { model: "provider-v4-flash", ...body });
  await response.text();
  await gateway.settle();
  return gateway.upstream.asked.at(-1)?.json() ?? {};
}

it("reads cache marks of parts", async () => {
  const url = `data:image/png;base64,${PNG}`;
  const request = await sent({
    messages: [
      { role: "system", content: [text("Be kind."), text("Be brief.", hour), text("It is Monday.")] },
      {
        role: "user",
        content: [text("What is there?", mark), { type: "image_url", image_url: { url }, ...hour }],
      },
      { role: "assistant", content: [text("I look."), text("Now.", mark)], tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: [text("seen"), text("all", mark)] },
      { role: "system", content: [text("Hurry.", mark)] },
    ],
  });
  expect(request).toMatchObject({
    system: [text("Be kind.\n\nBe brief.", hour), text("It is Monday.")],
    messages: [
      { role: "user", content: [text("What is there?", mark), { type: "image", ...hour }] },
      { role: "assistant", content: [text("I look.\n\nNow.", mark), { type: "tool_use" }] },
      {
        role: "user",
        content: [
          { type: "tool_result", content: [text("seen"), text("all")], ...mark },
          text("<system>\nHurry.\n</system>", mark),
        ],
      },
    ],
  });
  expect(JSON.stringify(request).match(/cache_control/g)).toHaveLength(6);
});

it("reads cache marks of messages, tools and the whole request", async () => {
  const request = await sent({
    ...mark,
    tools: [
      { type: "function", function: { name: "look", parameters }, ...mark },
      { type: "function", function: { name: "go", parameters, ...hour } },
    ],
    messages: [
      { role: "system", content: "Be kind.", ...hour },
      { role: "user", content: "What is there?", ...mark },
      { role: "assistant", content: "I look.", tool_calls: [call], ...mark },
      { role: "tool", tool_call_id: "call_1", content: "seen", ...hour },
    ],
  });
  expect(request).toMatchObject({
    ...mark,
    tools: [
      { name: "look", ...mark },
      { name: "go", ...hour },
    ],
    system: [text("Be kind.", hour)],
    messages: [
      { role: "user", content: [text("What is there?", mark)] },
      { role: "assistant", content: [text("I look."), { type: "tool_use", ...mark }] },
      { role: "user", content: [{ type: "tool_result", ...hour }] },
    ],
  });
  expect(JSON.stringify(request).match(/cache_control/g)).toHaveLength(7);
});

it("ignores cache marks that are not objects, and adds none", async () => {
  const content = [text("Hello", { cache_control: "yes" }), text("there", { cache_control: null })];
  const request = await sent({ messages: [{ role: "user", content, cache_control: true }] });
  expect(JSON.stringify(request)).not.toContain("cache_control");
});
