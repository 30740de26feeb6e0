import { describe, expect, it } from "vitest";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import { anthropicDriver } from "../../../../../src/gateway/providers/anthropic/driver.ts";
import type { Provider } from "../../../../../src/gateway/providers/provider.ts";
import {
  conversation,
  decode,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  readTurn,
  utf8,
} from "../support.ts";
import { provider, stream, text, user, WEATHER } from "./fake.ts";

type Changes = Parameters<typeof conversation>[0];

/** Asks a provider, and reads its answer to the end. */
async function ask(driver: Provider, fake: FakeUpstream, changes: Changes): Promise<Record<string, unknown>> {
  const prepared = driver.prepare(conversation(changes), prepareOptions());
  const turn = await prepared.open(fake.account, neverAborted(), null);
  await readTurn(turn);
  return fake.seen.at(-1)?.json() ?? {};
}

const refuse = (message: string) =>
  Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });

/** A model that refuses what a test says it refuses, in the words of the real service. */
function picky(judge: (request: Record<string, unknown>) => string | undefined): FakeUpstream {
  return new FakeUpstream((request) => {
    const why = judge(request.json());
    return why === undefined ? eventStream(stream("text")) : refuse(why);
  });
}

describe("a model that refuses what others know", () => {
  const thinkingType = (request: Record<string, unknown>): unknown => Object(request["thinking"]).type;

  it("and has no budgets thinks as much as it likes, from then on at once", async () => {
    const fake = picky((request) =>
      thinkingType(request) === "enabled"
        ? '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        : undefined,
    );
    const driver = provider();
    const adaptive = { type: "adaptive", display: "summarized" };
    const sampling = { reasoningEffort: "high" };
    expect(await ask(driver, fake, { thinking: true, sampling })).toMatchObject({
      thinking: adaptive,
      output_config: { effort: "high" },
    });
    expect(fake.seen.length).toBe(2);
    expect(await ask(driver, fake, { thinking: true })).toMatchObject({
      thinking: adaptive,
      output_config: { effort: "medium" },
    });
    expect(fake.seen.length).toBe(3);
    // What one model refuses another may know.
    await ask(driver, fake, { thinking: true, model: "provider-v4-pro" });
    expect(fake.seen.length).toBe(5);
  });

  it("and always thinks is not told to stop, but still how to", async () => {
    const fake = picky((request) =>
      thinkingType(request) === "disabled"
        ? '"thinking.type.disabled" is not supported for this model.'
        : undefined,
    );
    const driver = provider();
    expect(await ask(driver, fake, { thinking: false })).not.toHaveProperty("thinking");
    expect(await ask(driver, fake, { thinking: true })).toMatchObject({ thinking: { type: "enabled" } });
    expect(fake.seen.length).toBe(3);
  });

  it.each([
    ["thinking: Extra inputs are not permitted"],
    ["This model does not support thinking."],
    ["adaptive thinking is not supported on this model"],
  ])("and never thinks is not asked to: %s", async (why) => {
    const fake = picky((request) => ("thinking" in request ? why : undefined));
    const driver = provider();
    expect(await ask(driver, fake, { thinking: true })).not.toHaveProperty("thinking");
    expect(await ask(driver, fake, { thinking: false })).not.toHaveProperty("thinking");
  });

  it.each([
    [{ sampling: { temperature: 0.2 } }, "temperature", "`temperature` is deprecated for this model."],
    [{ sampling: { topP: 0.2 } }, "top_p", "This model does not support the top_p parameter"],
  ])("gets the rest: %j", async (changes, field, why) => {
    const fake = picky((request) => (field in request ? why : undefined));
    expect(await ask(provider(), fake, changes)).not.toHaveProperty(field);
  });

  it("and cannot be forced chooses for itself", async () => {
    const fake = picky((request) =>
      Object(request["tool_choice"]).type === "any"
        ? "tool_choice any is not supported for this model"
        : undefined,
    );
    const changes = { tools: [WEATHER], toolChoice: { type: "required" }, parallelToolCalls: false } as const;
    expect(await ask(provider(), fake, changes)).toMatchObject({
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    });
  });

  it("and knows no strict tools gets them loose", async () => {
    const fake = picky((request) =>
      JSON.stringify(request["tools"]).includes("strict")
        ? "tools.0.custom.strict: Extra inputs are not permitted"
        : undefined,
    );
    const body = await ask(provider(), fake, { tools: [{ ...WEATHER, strict: true }] });
    expect(body).toMatchObject({ tools: [{ name: "get_weather", input_schema: {} }] });
  });

  it("and continues no answer is asked to", async () => {
    const fake = picky((request) =>
      Object(request["messages"]).at(-1).role === "assistant"
        ? "This model does not support assistant message prefill. The conversation must end with a user message."
        : undefined,
    );
    const begun: Message = { role: "assistant", parts: [text("One,")], toolCalls: [] };
    const body = await ask(provider(), fake, { messages: [user("Count"), begun] });
    expect(Object(body["messages"]).at(-1)).toMatchObject({
      role: "user",
      content: [{ text: expect.stringContaining("Continue") }],
    });
  });

  it("and has a limit of its own gets no more, thinking included", async () => {
    const limited = (longest: number) =>
      picky((request) =>
        Number(request["max_tokens"]) > longest
          ? `max_tokens: ${request["max_tokens"]} > ${longest}, which is the maximum allowed number of output tokens for m`
          : undefined,
      );
    expect(await ask(provider(), limited(8192), { thinking: true })).toMatchObject({
      max_tokens: 8192,
      thinking: { type: "enabled", budget_tokens: 4096 },
    });
    const driver = provider();
    const fake = limited(1000);
    expect(await ask(driver, fake, { thinking: true })).toMatchObject({
      max_tokens: 1000,
      thinking: { type: "disabled" },
    });
    expect(await ask(driver, fake, { sampling: { maxTokens: 7 } })).toMatchObject({ max_tokens: 7 });
    expect(fake.seen.length).toBe(3);
  });

  it("is believed when it refuses for another reason", async () => {
    const fake = picky(() => "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`");
    await expect(ask(provider(), fake, { thinking: true })).rejects.toMatchObject({
      kind: "invalid_request",
    });
    expect(fake.seen.length).toBe(1);
  });
});

describe("thoughts", () => {
  const CALLS = [
    { id: "toolu_01T1x1fJ34qAmk2tNTrN7Up6", name: "get_weather", arguments: '{"city": "Ørsta"}' },
    { id: "toolu_01D7FLrfh4GYq7yT1ULFeyMV", name: "get_time", arguments: "{}" },
  ];
  const THOUGHTS = [
    { type: "thinking", thinking: "Oslo, and the time.", signature: "EpwBCkYIChgCKkBxy+thought+one==" },
    { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3" },
  ];
  const asked: Changes = { thinking: true, tools: [WEATHER] };
  const answered: Message[] = [
    user("Weather?"),
    { role: "assistant", parts: [text("Let me look.")], toolCalls: CALLS },
    { role: "tool", callId: CALLS[0]?.id ?? "", parts: [text("cold")] },
    { role: "tool", callId: CALLS[1]?.id ?? "", parts: [text("late")] },
  ];
  const upstream = () => new FakeUpstream(() => eventStream(stream("tools")));
  const thinkingOf = ({ thinking, messages: sent }: Record<string, unknown>) => ({
    thinking: Object(thinking).type,
    types: Object(sent)[1].content.map(({ type }: { type: string }) => type),
  });

  it("go back with the results of the calls that they led to, signed as they were", async () => {
    const driver = provider();
    await ask(driver, upstream(), asked);
    const body = await ask(driver, upstream(), { ...asked, messages: answered });
    expect(body["thinking"]).toMatchObject({ type: "enabled" });
    expect(body["messages"]).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          ...THOUGHTS,
          { type: "text", text: "Let me look." },
          { type: "tool_use", name: "get_weather", input: { city: "Ørsta" } },
          { type: "tool_use", name: "get_time" },
        ],
      },
      { role: "user" },
    ]);
    // Later, when the user asks again, they may stay.
    const more = [
      ...answered,
      { role: "assistant", parts: [text("Cold.")], toolCalls: [] } as const,
      user("And now?"),
    ];
    expect(thinkingOf(await ask(driver, upstream(), { ...asked, messages: more }))).toEqual({
      thinking: "enabled",
      types: ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"],
    });
  });

  it("that are not known end thinking for that request, and nothing fails", async () => {
    const off = { thinking: "disabled", types: ["text", "tool_use", "tool_use"] };
    expect(thinkingOf(await ask(provider(), upstream(), { ...asked, messages: answered }))).toEqual(off);
    // Nor does it go on where it began without.
    const driver = provider();
    await ask(driver, upstream(), { ...asked, thinking: false });
    expect(thinkingOf(await ask(driver, upstream(), { ...asked, messages: answered }))).toEqual(off);
    // The user's next question is another matter.
    const next = [
      ...answered,
      { role: "assistant", parts: [text("Cold.")], toolCalls: [] } as const,
      user("Why?"),
    ];
    expect(thinkingOf(await ask(driver, upstream(), { ...asked, messages: next }))).toEqual({
      ...off,
      thinking: "enabled",
    });
  });

  it("are kept from a request that does not think, and from another model", async () => {
    const driver = provider();
    await ask(driver, upstream(), asked);
    const off = { thinking: "disabled", types: ["text", "tool_use", "tool_use"] };
    const without = await ask(driver, upstream(), { ...asked, messages: answered, thinking: false });
    expect(thinkingOf(without)).toEqual(off);
    const other = await ask(driver, upstream(), { ...asked, messages: answered, model: "provider-v4-pro" });
    expect(thinkingOf(other)).toEqual(off);
  });

  it("that somebody else has signed are left out of that request alone", async () => {
    const driver = provider();
    await ask(driver, upstream(), asked);
    const foreign = picky((request) =>
      JSON.stringify(request["messages"]).includes("signature")
        ? "messages.1.content.0: Invalid `signature` in `thinking` block"
        : undefined,
    );
    expect(thinkingOf(await ask(driver, foreign, { ...asked, messages: answered }))).toEqual({
      thinking: "disabled",
      types: ["text", "tool_use", "tool_use"],
    });
    expect(foreign.seen.length).toBe(2);
    // An account to which they belong gets them.
    expect(thinkingOf(await ask(driver, upstream(), { ...asked, messages: answered }))).toEqual({
      thinking: "enabled",
      types: ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"],
    });
  });

  it("need not be known to a model that has no budgets", async () => {
    const driver = provider();
    const fake = new FakeUpstream((request) =>
      request.body.includes('"enabled"')
        ? refuse('"thinking.type.enabled" is not supported.')
        : eventStream(stream("text")),
    );
    await ask(driver, fake, asked);
    expect(thinkingOf(await ask(driver, fake, { ...asked, messages: answered }))).toEqual({
      thinking: "adaptive",
      types: ["text", "tool_use", "tool_use"],
    });
  });
});

describe("a backend of the message style that fails", () => {
  const failing = (respond: () => Response | Promise<Response>) =>
    provider()
      .prepare(conversation(), prepareOptions())
      .open(new FakeUpstream(respond).account, neverAborted(), null)
      .catch((error: unknown) => error);

  it.each([
    [400, "invalid_request_error", "invalid_request"],
    [401, "authentication_error", "token_expired"],
    [402, "billing_error", "account_suspended"],
    [403, "permission_error", "account_suspended"],
    [404, "not_found_error", "model_unavailable"],
    [413, "request_too_large", "too_large"],
    [429, "rate_limit_error", "rate_limited"],
    [500, "api_error", "server_error"],
    [504, "timeout_error", "timeout"],
    [529, "overloaded_error", "model_unavailable"],
    [401, "invalid_request_error", "token_expired"],
    [529, "unheard_of", "model_unavailable"],
  ])("with %i %s is a failure of the kind %s", async (status, type, kind) => {
    const body = { type: "error", error: { type, message: "no token-of-the-account" }, request_id: "req_1" };
    const failure = await failing(() => Response.json(body, { status }));
    expect(failure).toMatchObject({ name: "ProviderError", kind, status });
    expect(String(failure)).not.toContain("token-of-the-account");
  });
});

describe("a captured answer", () => {
  it("that is whole gets an id for a call without one when it is decoded again", () => {
    const whole = '{"content":[{"type":"tool_use","name":"f","input":{}}],"stop_reason":"tool_use"}';
    const { events } = decode(anthropicDriver.createCaptureDecoder("application/json"), [utf8(whole)]);
    expect(events).toContainEqual({ type: "tool-call", index: 0, id: "toolu_replayed2", name: "f" });
  });
});
