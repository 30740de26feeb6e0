import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../../../src/core/encoding/json.ts";
import { SMALL_REQUESTS } from "../../../../support/dialect-requests.ts";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { streamModelAnswer } from "../../../../support/model-answers.ts";
import { ScriptedUpstream } from "../../../../support/scripted-upstream.ts";
import { inOnePiece } from "../../../../support/upstream-scripts.ts";

/** Backends whose models think only on request: what each style asks them for. */

const make = useMemoryGateway();

const DRIVERS = { anthropic: "messages", gemini: "content-generation" } as const;
type DriverName = keyof typeof DRIVERS;

/** The request that a backend gets. `name` replaces the model's name. */
async function requestAt(
  driver: DriverName,
  style: string,
  extra: object = {},
  name = "",
): Promise<JsonObject> {
  const upstream = new ScriptedUpstream((asked) =>
    inOnePiece(
      DRIVERS[driver],
      asked,
      streamModelAnswer({ calls: [{ name: "shell", input: {} }], end: "stop" }, DRIVERS[driver], "native"),
    ),
  );
  const gateway = await make({
    upstream,
    env: { PROVIDER_DRIVER: driver, PROVIDER_NATIVE: "false" },
    config: {
      accounts: [{ token: "key" }],
      unknown_models: { provider: "default" },
      model_aliases: name === "" ? {} : { [name]: "provider-v4-flash" },
    },
  });
  const { path, body } = SMALL_REQUESTS[style] ?? { path: "", body: {} };
  const model = name === "" ? {} : { model: name };
  const renamed = name === "" ? path : path.replace("provider-v4-flash", name);
  const response = await gateway.post(renamed, { ...body, ...model, ...extra });
  expect(response.status, await response.text()).toBe(200);
  await gateway.settle();
  return gateway.upstream.asked.at(-1)?.json() ?? {};
}

/** How much a backend is asked to think: `on`, `off`, or `unsaid` if the request leaves it to the model. */
function thinkingIn(request: JsonObject): string {
  const { thinking, generationConfig } = request;
  if (isObject(thinking)) return thinking["type"] === "disabled" ? "off" : "on";
  const config = isObject(generationConfig) ? generationConfig["thinkingConfig"] : undefined;
  if (!isObject(config)) return "unsaid";
  return config["thinkingBudget"] === 0 ? "off" : "on";
}

const ASKING: Readonly<Record<string, readonly object[]>> = {
  "chat-completions": [
    { reasoning_effort: "low" },
    { reasoning: { effort: "low" } },
    { reasoning: { max_tokens: 2000 } },
    { thinking: { type: "enabled", budget_tokens: 2048 } },
    { enable_thinking: true },
  ],
  responses: [{ reasoning: { effort: "low" } }, { reasoning: { summary: "auto" } }, { thinking: true }],
  messages: [
    { thinking: { type: "enabled", budget_tokens: 2048 }, max_tokens: 9000 },
    { thinking: { type: "adaptive" }, max_tokens: 9000 },
    { output_config: { effort: "low" }, max_tokens: 9000 },
  ],
  "content-generation": [
    { generationConfig: { thinkingConfig: { includeThoughts: true } } },
    { generationConfig: { thinkingConfig: { thinkingBudget: 2048 } } },
    { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } },
    { generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } },
  ],
  "model-runner": [{ think: true }, { think: "low" }],
};

const NOT_ASKING: Readonly<Record<string, readonly object[]>> = {
  "chat-completions": [{}, { reasoning: null, reasoning_effort: null }, { reasoning: {}, thinking: null }],
  responses: [
    {},
    { reasoning: { effort: null, summary: null } },
    { include: ["reasoning.encrypted_content"], reasoning: { summary: "none" } },
  ],
  messages: [{ max_tokens: 9000 }],
  "model-runner": [{}],
  completions: [{}],
};

const each = (cases: Readonly<Record<string, readonly object[]>>) =>
  Object.entries(cases).flatMap(([style, extras]) => extras.map((extra) => [style, extra] as const));

describe.each(["anthropic", "gemini"] as const)("behind %s", (driver) => {
  it.each(each(ASKING))("a model thinks on request: %s %j", async (style, extra) => {
    expect(thinkingIn(await requestAt(driver, style, extra))).toBe("on");
  });

  it.each(each(NOT_ASKING))("a model does not think without a request: %s %j", async (style, extra) => {
    expect(thinkingIn(await requestAt(driver, style, extra))).toBe("off");
  });

  it.each(["kimi-k2-thinking", "claude-3-7-sonnet:thinking", "deepseek-reasoner"])(
    "a name that means thinking requests it: %s",
    async (name) => {
      expect(thinkingIn(await requestAt(driver, "chat-completions", {}, name))).toBe("on");
    },
  );

  it.each(["grok-4-fast-non-reasoning", "sonnet-no-thinking", "unthinkingly"])(
    "other names do not request thinking: %s",
    async (name) => {
      expect(thinkingIn(await requestAt(driver, "chat-completions", {}, name))).toBe("off");
    },
  );
});

it("content generation leaves it to models of its own vendor, and others do not think", async () => {
  for (const extra of [{}, { generationConfig: { thinkingConfig: {} } }]) {
    expect(thinkingIn(await requestAt("gemini", "content-generation", extra))).toBe("unsaid");
    expect(thinkingIn(await requestAt("anthropic", "content-generation", extra))).toBe("off");
  }
  const off = { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } };
  expect(thinkingIn(await requestAt("gemini", "content-generation", off))).toBe("off");
});

describe("without thinking", () => {
  const parameters = { type: "object", properties: {} };
  const forced = {
    "chat-completions": {
      temperature: 0.3,
      tools: [{ type: "function", function: { name: "shell", parameters } }],
      tool_choice: { type: "function", function: { name: "shell" } },
    },
    responses: {
      temperature: 0.3,
      tools: [{ type: "function", name: "shell", parameters }],
      tool_choice: { type: "function", name: "shell" },
    },
    messages: {
      temperature: 0.3,
      max_tokens: 9000,
      tools: [{ name: "shell", input_schema: parameters }],
      tool_choice: { type: "tool", name: "shell" },
    },
  };

  it.each(Object.entries(forced))(
    "temperature and a forced tool reach the backend: %s",
    async (style, extra) => {
      expect(await requestAt("anthropic", style, extra)).toMatchObject({
        temperature: 0.3,
        tool_choice: { type: "tool", name: "shell" },
      });
    },
  );
});
