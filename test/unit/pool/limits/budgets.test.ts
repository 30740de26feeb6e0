import { expect, it } from "vitest";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";

const make = useMemoryGateway();

/** Each answer uses 10 tokens, which cost 1. The gateway expects more of this text. */
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const CONTENT = "Count the words of this sentence, and then those of the sentence after it, please. Thanks!";
const PRICE = { input: 100_000, output: 100_000 };
const choices = [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }];

const TOKENS = { tokens_per_day: 1_000 };
const COST = { cost_per_day: 100 };

it.each(
  [TOKENS, COST].flatMap((limits) => [
    { kind: "key", limits, rules: { limits }, config: {}, provider: {} },
    { kind: "team", limits, rules: { team: "t" }, config: { teams: [{ id: "t", limits }] }, provider: {} },
    { kind: "user", limits, rules: { user: "u" }, config: { users: [{ id: "u", limits }] }, provider: {} },
    { kind: "tag", limits, rules: {}, config: { tags: [{ id: "g", limits }] }, provider: {} },
    { kind: "provider", limits, rules: {}, config: {}, provider: { limits } },
  ]),
)("200 requests at once for a budget of 100 of a $kind ($limits): 100 are answered", async (entry) => {
  const { rules, config, provider } = entry;
  const upstream = new ScriptedUpstream(() => ({ json: { id: "c", choices, usage: USAGE } }));
  const engine = { id: "engine", driver: "openai", base_url: "http://engine.test/v1", token: "token" };
  const gateway = await make({
    upstream,
    config: {
      keys: [],
      api_keys: [{ key: KEY, ...rules }],
      providers: [{ ...engine, max_concurrent: 0 as const, ...provider }],
      unknown_models: { provider: "engine" },
      prices: { "engine/m": PRICE },
      ...config,
    },
  });
  const headers = { "x-gateway-tags": "g" };
  const send = async (count: number) => {
    const body = { model: "engine/m", max_tokens: 3, messages: [{ role: "user", content: CONTENT }] };
    const answers = await Promise.all(
      Array.from({ length: count }, () => gateway.post("/v1/chat/completions", body, { headers })),
    );
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    await gateway.settle();
    const refused = answers.filter(({ status }) => status !== 200);
    const codes = texts.filter((text) => text.includes("insufficient_quota"));
    expect([refused.every(({ status }) => status === 429), codes.length]).toEqual([true, refused.length]);
    return count - refused.length;
  };
  let answered = await send(200);
  expect(answered).toBeGreaterThan(0);
  expect(answered).toBeLessThanOrEqual(100);
  // What was expected of the first ones and not used is free again.
  for (let wave = 0; wave < 20 && answered < 100; wave += 1) answered += await send(20);
  expect([answered, await send(20), upstream.asked.length]).toEqual([100, 0, 100]);
  const [use] = await gateway.platform.accounts.listSubjectUsage();
  expect(use).toMatchObject({ parallel: 0, day: { tokens: 1_000, cost: 100e9 } });
  await gateway.expectIdle();
});
