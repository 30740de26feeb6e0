import { describe, expect, it } from "vitest";
import type { GenerationOptions } from "../../../../src/core/conversation/conversation.ts";
import { anthropicDriver } from "../../../../src/gateway/providers/anthropic/driver.ts";
import type { Driver } from "../../../../src/gateway/providers/driver.ts";
import { geminiDriver } from "../../../../src/gateway/providers/gemini/driver.ts";
import { openaiDriver } from "../../../../src/gateway/providers/openai/driver.ts";
import { openaiResponsesDriver } from "../../../../src/gateway/providers/openai-responses/driver.ts";
import { sessionsDriver } from "../../../../src/gateway/providers/sessions/driver.ts";
import { keyed } from "./keyed.ts";
import { conversation, eventStream, FakeUpstream, neverAborted, prepareOptions } from "./support.ts";

/** One of each. */
const WISHES: Required<GenerationOptions> = {
  temperature: 0.5,
  topP: 0.99,
  topK: 4,
  minP: 0.1,
  presencePenalty: 0.3,
  frequencyPenalty: 0.4,
  repetitionPenalty: 1.1,
  logitBias: { "50256": -100 },
  stop: ["END"],
  maxTokens: 20_000,
  seed: 7,
  reasoningEffort: "high",
  thinkingBudget: 3000,
  verbosity: "low",
  user: "ada",
  promptCacheKey: "key",
  logprobs: 2,
  n: 2,
  modalities: ["audio"],
};

const keyedRequest = (driver: Driver, path: string) => {
  const answer = "data: {}\n\n";
  const { provider, request } = keyed({ driver, baseUrl: "http://engine.example", path, answer });
  return { abilities: provider().capabilities, request };
};

async function sessionsRequest(changes: Parameters<typeof conversation>[0]) {
  const fake = new FakeUpstream(({ url }) =>
    url.endsWith("/sessions") ? Response.json({ id: "s" }) : eventStream(""),
  );
  const provider = sessionsDriver.create({
    baseUrl: "http://engine.example",
    token: "",
    models: {},
    toolCalls: "native",
    wholeAnswers: true,
    newId: () => "id",
    sleep: async () => undefined,
  });
  await provider.prepare(conversation(changes), prepareOptions()).open(fake.account, neverAborted(), null);
  return fake.only("/turns").json();
}

const DRIVERS = [
  { name: "openai", ...keyedRequest(openaiDriver, "/chat/completions") },
  { name: "openai-responses", ...keyedRequest(openaiResponsesDriver, "/responses") },
  { name: "anthropic", ...keyedRequest(anthropicDriver, "/messages") },
  {
    name: "gemini",
    ...keyedRequest(geminiDriver, ":streamGenerateContent?alt=sse"),
  },
  {
    name: "sessions",
    abilities: sessionsDriver.create({
      baseUrl: "http://engine.example",
      token: "",
      models: {},
      toolCalls: "native",
      wholeAnswers: true,
      newId: () => "id",
      sleep: async () => undefined,
    }).capabilities,
    request: sessionsRequest,
  },
];

describe.each(DRIVERS)("the driver $name", ({ abilities, request }) => {
  it.each(Object.entries(WISHES))("passes on %s exactly if it declares this", async (name, value) => {
    const option = Object.keys(WISHES).find((key): key is keyof GenerationOptions => key === name);
    if (option === undefined) throw new Error(name);
    let reaches = false;
    // Some count only for a model that thinks, some only for one that does not.
    for (const thinking of [true, false]) {
      const without = await request({ thinking, options: {} });
      const withIt = await request({ thinking, options: { [option]: value } });
      reaches ||= JSON.stringify(withIt) !== JSON.stringify(without);
    }
    expect(reaches).toBe(abilities.options.has(option));
  });
});

describe("budgets for thinking", () => {
  const { request } = keyedRequest(anthropicDriver, "/messages");
  const budget = async (thinkingBudget: number, maxTokens?: number) => {
    const options = { thinkingBudget, ...(maxTokens === undefined ? {} : { maxTokens }) };
    const body = await request({ thinking: true, options });
    return [body["thinking"], body["max_tokens"]];
  };

  it("are the caller's own, as far as its limit allows", async () => {
    const enabled = (tokens: number) => ({ type: "enabled", budget_tokens: tokens });
    expect(await budget(16_000, 20_000)).toEqual([enabled(16_000), 20_000]);
    expect(await budget(3000)).toEqual([enabled(3000), 11_192]);
    expect(await budget(10)).toEqual([enabled(1024), 9216]);
    expect(await budget(16_000, 4000)).toEqual([enabled(2000), 4000]);
    expect(await budget(16_000, 500)).toEqual([{ type: "disabled" }, 500]);
  });
});

describe("names of users", () => {
  it("that are too long for the backend are left out", async () => {
    const { request } = keyedRequest(anthropicDriver, "/messages");
    expect(await request({ options: { user: "u".repeat(257) } })).not.toHaveProperty("metadata");
    expect(await request({ options: { user: "u" } })).toMatchObject({ metadata: { user_id: "u" } });
    for (const chat of [
      keyedRequest(openaiDriver, "/chat/completions"),
      keyedRequest(openaiResponsesDriver, "/responses"),
    ]) {
      expect(await chat.request({ options: { user: "u".repeat(65) } })).not.toHaveProperty("user");
    }
  });
});
