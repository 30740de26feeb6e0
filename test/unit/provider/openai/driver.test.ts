import { describe, expect, it } from "vitest";
import type { Message } from "../../../../src/conversation/conversation.ts";
import { conversation, decode, eventStream, FakeUpstream, neverAborted, prepareOptions } from "../support.ts";

import { ANSWER, provider, text, user, WEATHER } from "./fake.ts";

describe("a backend that refuses a field by its name", () => {
  function picky(...unknown: string[]): FakeUpstream {
    return new FakeUpstream((request) => {
      const field = unknown.find((name) => request.body.includes(`"${name}"`));
      if (field === undefined) return eventStream(ANSWER);
      return Response.json(
        { error: { message: `Unrecognized request argument supplied: ${field}` } },
        { status: 400 },
      );
    });
  }

  it("gets the request without it, and is not asked twice", async () => {
    const fake = picky("stream_options", "chat_template_kwargs", "reasoning_content", "parallel_tool_calls");
    const driver = provider();
    const messages: Message[] = [
      user("a"),
      { role: "assistant", parts: [text("b")], reasoning: "r", toolCalls: [] },
      user("c"),
    ];
    const prepared = driver.prepare(
      conversation({ messages, tools: [WEATHER], parallelToolCalls: false }),
      prepareOptions(),
    );
    await prepared.open(fake.account, neverAborted(), null);
    const before = fake.seen.length;
    await prepared.open(fake.account, neverAborted(), null);
    expect(fake.seen.length).toBe(before + 1);
    expect(fake.seen.at(-1)?.json()).toMatchObject({
      reasoning_effort: "none",
      messages: [{ content: "a" }, { role: "assistant", content: "b" }, { content: "c" }],
    });
  });

  it("gets the limit of tokens under its new name", async () => {
    const fake = new FakeUpstream((request) =>
      "max_tokens" in request.json()
        ? Response.json({ error: { message: "Use 'max_completion_tokens' instead." } }, { status: 400 })
        : eventStream(ANSWER),
    );
    await provider()
      .prepare(conversation({ sampling: { maxTokens: 7 } }), prepareOptions())
      .open(fake.account, neverAborted(), null);
    expect(fake.seen.at(-1)?.json()).toMatchObject({ max_completion_tokens: 7 });
  });

  it("is believed when it refuses the request for another reason", async () => {
    const fake = new FakeUpstream(() =>
      Response.json({ error: { message: "context too long" } }, { status: 400 }),
    );
    const opened = provider()
      .prepare(conversation(), prepareOptions())
      .open(fake.account, neverAborted(), null);
    await expect(opened).rejects.toMatchObject({
      kind: "invalid_request",
      message: "the provider says: context too long",
    });
    expect(fake.seen).toHaveLength(1);
  });

  it("does not lose a field for good because a hopeless refusal mentioned it", async () => {
    let hopeless = true;
    const fake = new FakeUpstream(() =>
      hopeless
        ? Response.json({ error: "stream_options and all is wrong" }, { status: 400 })
        : eventStream(ANSWER),
    );
    const prepared = provider().prepare(conversation(), prepareOptions());
    await expect(prepared.open(fake.account, neverAborted(), null)).rejects.toMatchObject({
      kind: "invalid_request",
    });
    hopeless = false;
    await prepared.open(fake.account, neverAborted(), null);
    expect(fake.seen.at(-1)?.json()).toHaveProperty("stream_options");
  });
});

describe("a backend that fails", () => {
  const failing = (respond: () => Response | Promise<Response>) =>
    provider()
      .prepare(conversation(), prepareOptions())
      .open(new FakeUpstream(respond).account, neverAborted(), null)
      .catch((error: unknown) => error);

  it.each([
    [400, { error: { message: "x", code: "content_policy_violation" } }, "content_filter"],
    [
      401,
      { error: { message: "Incorrect API key provided: token-*count", code: "invalid_api_key" } },
      "token_expired",
    ],
    [402, { error: { message: "Insufficient balance" } }, "account_suspended"],
    [404, { error: { message: "The model does not exist", code: "model_not_found" } }, "model_unavailable"],
    [404, { detail: "Not Found" }, "model_unavailable"],
    [422, { detail: "bad" }, "invalid_request"],
    [429, { error: { message: "x", code: "insufficient_quota" } }, "rate_limited"],
    [500, { object: "error", message: "boom" }, "server_error"],
  ])("with %i %j is a failure of the kind %s", async (status, body, kind) => {
    const failure = await failing(() => Response.json(body, { status }));
    expect(failure).toMatchObject({ name: "ProviderError", kind, status });
    expect(String(failure)).not.toContain("token-*count");
  });

  it("to call its stream an event stream is understood: some servers say text/plain", async () => {
    const headers = { "content-type": "text/plain; charset=utf-8" };
    const fake = new FakeUpstream(() => new Response(ANSWER, { headers }));
    const turn = await provider()
      .prepare(conversation(), prepareOptions())
      .open(fake.account, neverAborted(), null);
    const bytes = new Uint8Array(await new Response(turn.body).arrayBuffer());
    expect(decode(turn.decoder, [bytes])).toMatchObject({ failure: null, events: { length: 3 } });
  });
});
