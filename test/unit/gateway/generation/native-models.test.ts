import { describe, expect, test } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";

/** Native requests that name further models, with a key that may use only some. */

const createGateway = useMemoryGateway();

const STYLES = {
  chat: ["openai", "/v1/chat/completions", { messages: [{ role: "user", content: "Hello?" }] }],
  messages: [
    "anthropic",
    "/v1/messages",
    { messages: [{ role: "user", content: "Hello?" }], max_tokens: 16 },
  ],
  responses: ["openai-responses", "/v1/responses", { input: "Hello?", store: false }],
  content: [
    "gemini",
    "/v1beta/models/vendor%2Fcheap:generateContent",
    { contents: [{ role: "user", parts: [{ text: "Hello?" }] }] },
  ],
} as const;

/** The bodies that the provider got for a body with further members, given as JSON. */
async function ask(
  style: keyof typeof STYLES,
  members: string,
  models: readonly string[],
  cheap: object | string = "real-name",
) {
  const [driver, path, body] = STYLES[style];
  const upstream = new ScriptedUpstream(() => ({ status: 400, json: { error: { message: "no" } } }));
  const base_url = "http://vendor.test/v1";
  const provider = { id: "vendor", driver, base_url, token: "sk-account", models: { cheap } };
  const gateway = await createGateway({
    upstream,
    config: { providers: [provider], api_keys: [{ key: "sk-few", models: [...models] }] },
  });
  const named = style === "content" ? body : { model: "vendor/cheap", ...body };
  const text = `${JSON.stringify(named).slice(0, -1)},${members}}`;
  const response = await gateway.post(path, null, {
    body: text,
    headers: { authorization: "Bearer sk-few" },
  });
  await response.text();
  return upstream.asked.map((asked) => asked.body);
}

const FEW = ["vendor/cheap", "small*"];

const TOOLS: readonly (readonly [keyof typeof STYLES, string])[] = [
  ["messages", '{"type":"advisor_20990101","name":"advisor","model":"MODEL"}'],
  ["responses", '{"type":"image_generation","model":"MODEL"}'],
  ["chat", '{"type":"openrouter:advisor","parameters":{"model":"MODEL"}}'],
];

describe.each(TOOLS)("a tool that names a model in %s", (style, tool) => {
  const tools = (model: string) => `"tools":[{"type":"other"},${tool.replace("MODEL", model)}]`;

  test.each([
    tools("large"),
    tools("large").replace('"model"', '"MODEL"'),
    tools("large").replace('"model"', '"model":"small","mod\\u0065l"'),
    tools("large").replace('"tools"', '"TOOLS"'),
    `${tools("large")},"tools":[]`,
    tools("large").replace('"large"', '["large"]'),
  ])("does not reach the provider if the key may not use it: %s", async (members) => {
    for (const body of await ask(style, members, FEW)) expect(body).not.toContain("large");
  });

  test.each([
    [FEW, "small-1"],
    [FEW, "real-name"],
    [[], "large"],
  ])("reaches the provider if the key may use it: %j, %s", async (models, model) => {
    const [body] = await ask(style, tools(model), models);
    expect(body).toContain(tools(model));
  });
});

test.each([
  ["chat", "preset"],
  ["chat", "route"],
  ["messages", "preset"],
  ["messages", "route"],
  ["responses", "preset"],
  ["responses", "route"],
] as const)("in %s, the member %s does not reach the provider", async (style, member) => {
  for (const body of await ask(style, `"${member}":"dear"`, FEW)) expect(body).not.toContain("dear");
  const [open] = await ask(style, `"${member}":"dear"`, []);
  expect(open).toContain("dear");
});

test.each(['"model":"large"', '"mod\\u0065l":"models/large"'])(
  "beside the model in the address, %s does not reach the provider if the key may not use the model",
  async (member) => {
    for (const body of await ask("content", member, FEW)) expect(body).not.toContain("large");
    const [open] = await ask("content", member, []);
    expect(open).toContain(member);
  },
);

test.each([
  '"generationConfig":{"thinkingConfig":{"thinkingBudget":77}}',
  '"generationConfig":{"thinking_config":{"thinkingBudget":77}}',
  '"generation_config":{"thinkingConfig":{"thinkingBudget":77}}',
  '"generation_config":{"thinking_config":{"thinkingBudget":77}}',
])("a model without thinking is not asked to think: %s", async (member) => {
  const [body] = await ask("content", member, [], { upstream: "real-name", thinking: false });
  expect(body).not.toContain("77");
});

/** Members of providers and other gateways that name models, or say how models are chosen. MODEL is the name. */
const NAMING = [
  '"plugins":[{"id":"web"},{"id":"auto-router","allowed_models":["MODEL"]}]',
  '"plugins":[{"id":"fusion","analysis_models":["small-1","MODEL"]}]',
  '"extra_body":{"fallbacks":["MODEL"]}',
  '"providerOptions":{"gateway":{"models":["MODEL"]}}',
  '"litellm_params":{"Model_Name":"MODEL"}',
  '"moderation":{"model":{"id":"MODEL"}}',
  '"metadata":{"nested":[[{"mod\\u0065l":"MODEL"}]]}',
  '"tools":[{"type":"x","options":{"judgeModel":"MODEL"}}]',
];

describe.each(["chat", "messages", "responses"] as const)("a body in %s with", (style) => {
  test.each(NAMING)("%s does not reach the provider if the key may not use the model", async (members) => {
    for (const body of await ask(style, members.replace("MODEL", "large"), FEW))
      expect(body).not.toContain("large");
    const [open] = await ask(style, members.replace("MODEL", "large"), []);
    expect(open).toContain(members.replace("MODEL", "large"));
  });

  test.each([
    '"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"model":{"type":"string"}}}}]',
    '"plugins":[{"id":"x","model":"small-1","models":["small-2"],"fallback_models":null,"is_model":true}]',
  ])("%s reaches the provider as it is", async (members) => {
    const [body] = await ask(style, members, FEW);
    expect(body).toContain(members);
  });
});
