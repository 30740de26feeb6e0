import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Guardrail, guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";

/** Requests whose caller and provider speak the same protocol: what goes through, and what the gateway changes. */

const createGateway = useMemoryGateway();

interface Protocol {
  readonly driver: string;
  readonly path: (stream: boolean) => string;
  /** The path at the provider. */
  readonly upstream: (stream: boolean) => string;
  /** The members that a request needs so that the gateway adds none. */
  readonly members: object;
  /** Whether the body names the model. */
  readonly named: boolean;
  /** The name of the model in answers. */
  readonly echoed: string;
  /** A whole answer that names the model `snapshot`. */
  readonly answer: string;
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly requestHeaders: Readonly<Record<string, string>>;
}

const MODEL = "vendor/mine";

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  "chat-completions": {
    driver: "openai",
    path: () => "/v1/chat/completions",
    upstream: () => "/v1/chat/completions",
    members: { messages: [{ role: "user", content: "Hello?" }] },
    named: true,
    echoed: MODEL,
    answer:
      '{"id":"c1","object":"chat.completion","model":"snapshot","new":[1.0,{"model":"snapshot"}],"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","audio":{"id":"a"}},"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"Ho"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}',
    answerHeaders: { "openai-processing-ms": "12", "x-ratelimit-remaining-requests": "9" },
    requestHeaders: { "openai-beta": "assistants=v2", session_id: "s-1", "x-codex-turn-state": "t" },
  },
  messages: {
    driver: "anthropic",
    path: () => "/v1/messages?beta=true",
    upstream: () => "/v1/messages?beta=true",
    members: { messages: [{ role: "user", content: "Hello?" }], max_tokens: 16 },
    named: true,
    echoed: MODEL,
    answer:
      '{"id":"msg_1","type":"message","role":"assistant","model":"snapshot","container":{"id":"c"},"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"text","text":"Hi","citations":null}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":1}}}',
    answerHeaders: { "anthropic-ratelimit-unified-5h-status": "allowed" },
    requestHeaders: {
      "anthropic-beta": "new-thing-2099-01-01,other-2099",
      "x-claude-code-session-id": "s-2",
      "x-app": "cli",
    },
  },
  "content-generation": {
    driver: "gemini",
    path: (stream) =>
      `/v1beta/models/${MODEL}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    upstream: (stream) =>
      `/v1beta/models/real-name:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    members: { contents: [{ role: "user", parts: [{ text: "Hello?" }] }] },
    named: false,
    echoed: MODEL,
    answer:
      '{"candidates":[{"content":{"parts":[{"executableCode":{"code":"1"}},{"text":"Hi","thoughtSignature":"x=="}],"role":"model"},"finishReason":"STOP","safetyRatings":[]}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3},"modelVersion":"snapshot"}',
    answerHeaders: { "x-goog-request-cost": "1" },
    requestHeaders: { "x-goog-api-client": "google-genai-sdk/2" },
  },
  responses: {
    driver: "openai-responses",
    path: () => "/v1/responses",
    upstream: () => "/v1/responses",
    members: { input: "Hello?", store: false },
    named: true,
    echoed: MODEL,
    answer:
      '{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"snapshot","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"},{"type":"mcp_call","id":"m","name":"x"},{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[{"type":"file_citation","file_id":"f"}]}]}],"usage":{"input_tokens":7,"output_tokens":3}}',
    answerHeaders: { "x-codex-primary-used-percent": "3" },
    requestHeaders: { session_id: "s-3", originator: "codex_cli_rs" },
  },
};

/** Headers with which agents name their session, in all styles. */
const SESSION_HEADERS = { "x-session-id": "ses_1", "x-session-affinity": "ses_1", "thread-id": "t-1" };

const protocols = Object.entries(PROTOCOLS);

function providerOf(driver: string, more: object = {}) {
  return {
    id: "vendor",
    driver,
    base_url: "http://vendor.test/v1",
    token: "sk-of-the-account",
    models: { mine: "real-name" },
    ...(driver === "gemini" ? { base_url: "http://vendor.test/v1beta" } : {}),
    ...more,
  };
}

function behind(
  protocol: Protocol,
  reply: (asked: UpstreamRequest) => Reply,
  more: object = {},
  rules: Guardrail[] = [],
) {
  const upstream = new ScriptedUpstream(reply);
  const config = { providers: [providerOf(protocol.driver, more)], guardrails: { rules } };
  return createGateway({ upstream, config });
}

const whole = ({ answer, answerHeaders }: Protocol): Reply => ({
  type: "application/json",
  body: [answer],
  headers: { ...answerHeaders, "set-cookie": "a=b", "openai-organization": "org", "x-request-id": "up-1" },
});

const send = (gateway: MemoryGateway, path: string, text: string, headers: Record<string, string> = {}) =>
  gateway.post(path, null, { body: text, headers });

const requestText = ({ members, named }: Protocol, more: object = {}, space?: number) =>
  JSON.stringify({ ...(named ? { model: MODEL } : {}), ...members, ...more }, null, space);

describe.each(protocols)("a %s request to a provider of the same protocol", (_, protocol) => {
  test("arrives byte by byte as it was sent, except for the model's name", async () => {
    const gateway = await behind(protocol, () => whole(protocol));
    const unknown = fc.dictionary(
      fc.string({ minLength: 1 }).map((name) => `x_${name.replace(/[\\"]/g, "")}`),
      fc.jsonValue(),
      { noNullPrototype: true, maxKeys: 5 },
    );
    await fc.assert(
      fc.asyncProperty(unknown, fc.constantFrom(undefined, 1, 4), async (more, space) => {
        const text = requestText(protocol, more, space);
        const response = await send(gateway, protocol.path(false), text);
        expect(await response.text()).toBe(protocol.answer.replace("snapshot", protocol.echoed));
        const asked = gateway.upstream.asked.at(-1);
        expect(asked?.body).toBe(text.replace(JSON.stringify(MODEL), '"real-name"'));
        expect(`${asked?.path}${asked?.query}`).toBe(protocol.upstream(false));
      }),
      { numRuns: 30 },
    );
  });

  test("has the protocol's headers, but no credentials and connection headers", async () => {
    const gateway = await behind(protocol, () => whole(protocol));
    const response = await send(gateway, protocol.path(false), requestText(protocol), {
      ...protocol.requestHeaders,
      ...SESSION_HEADERS,
      "x-stainless-lang": "js",
      "user-agent": "agent/1",
      cookie: "secret=1",
      "x-forwarded-for": "192.0.2.7",
      "x-gateway-source": "here",
      "openai-organization": "mine",
      "anthropic-workspace-id": "mine",
    });
    const asked = gateway.upstream.asked.at(-1)?.headers;
    const received = Object.fromEntries(asked ?? []);
    expect(received).toMatchObject({
      ...protocol.requestHeaders,
      ...SESSION_HEADERS,
      "x-stainless-lang": "js",
      "user-agent": "agent/1",
    });
    expect(JSON.stringify(received)).not.toContain(KEY);
    expect(JSON.stringify(received)).toContain("sk-of-the-account");
    const withheld = /^(?:cookie|x-forwarded|x-gateway|openai-organization|anthropic-workspace)/;
    expect(Object.keys(received).filter((name) => withheld.test(name))).toEqual([]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...protocol.answerHeaders,
      "x-gateway-path": "native",
      "x-gateway-upstream-request-id": "up-1",
    });
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(response.headers.get("openai-organization")).toBeNull();
  });

  test("is recorded with its texts, its tokens and its path", async () => {
    const gateway = await behind(protocol, () => whole(protocol));
    await (await send(gateway, protocol.path(false), requestText(protocol))).text();
    const [record] = await gateway.history();
    expect(record).toMatchObject({
      path: "native",
      status: "success",
      content: "Hi",
      prompt_tokens: 7,
      completion_tokens: 3,
      request_preview: "Hello?",
    });
  });

  test("is refused with the provider's own message", async () => {
    const error = { message: "a  very\n special wording: `x`", type: "odd_error", code: "odd", param: "x.y" };
    for (const status of [400, 404, 413, 422]) {
      const gateway = await behind(protocol, () => ({ status, json: { error } }));
      const response = await send(gateway, protocol.path(false), requestText(protocol));
      expect(response.status).toBe(status);
      expect(JSON.parse(await response.text()).error.message).toBe(error.message);
    }
  });

  test("is not sent if it names the model twice, because parsers may differ", async () => {
    const gateway = await behind(protocol, () => whole(protocol));
    const text = requestText(protocol).replace("{", '{"mod\\u0065l":"other","model":"third",');
    const response = await send(gateway, protocol.path(false), text);
    expect(response.status).toBe(400);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("is translated if the provider is configured so", async () => {
    const gateway = await behind(protocol, () => whole(protocol), { native: false });
    const response = await send(gateway, protocol.path(false), requestText(protocol, { x_new: 1 }));
    await response.text();
    expect(response.headers.get("x-gateway-path")).toBe("translated");
    expect(gateway.upstream.asked.at(-1)?.body).not.toContain("x_new");
  });

  test("is translated for callers with guardrails, which could otherwise miss text", async () => {
    const gateway = await behind(protocol, () => whole(protocol), {}, [
      guardrailSchema.parse({ id: "words", type: "expressions", expressions: [{ pattern: "apollo" }] }),
    ]);
    const hidden = await send(gateway, protocol.path(false), requestText(protocol, { x_new: "apollo" }));
    expect(hidden.headers.get("x-gateway-path")).toBe("translated");
    await hidden.text();
    for (const { body } of gateway.upstream.asked) expect(body).not.toContain("apollo");
    const count = gateway.upstream.asked.length;
    const text = requestText(protocol).replace("Hello?", "apollo");
    expect((await send(gateway, protocol.path(false), text)).status).toBe(400);
    expect(gateway.upstream.asked).toHaveLength(count);
  });

  test("is accepted with members and types that the gateway does not know", async () => {
    const gateway = await behind(protocol, () => whole(protocol));
    const strange = {
      tools: [{ type: "from_the_future", settings: 1 }],
      stop: { unknown: true },
      thinking: 7,
    };
    const response = await send(gateway, protocol.path(false), requestText(protocol, strange));
    expect(response.status).toBe(200);
    expect(gateway.upstream.asked.at(-1)?.json()).toMatchObject(strange);
    expect((await gateway.history())[0]).toMatchObject({ status: "success", content: "Hi" });
  });
});

const root = join(import.meta.dirname, "../../../fixtures/streams");

/** Streams that end in order. */
const recorded = protocols.flatMap(([style, protocol]) =>
  readdirSync(join(root, protocol.driver))
    .filter((file) => file.endsWith(".sse") && !/error|cut|garbage|failed|malformed|blocked/.test(file))
    .flatMap((file) => [1, 50, Number.POSITIVE_INFINITY].map((size) => ({ style, protocol, file, size }))),
);

/** The text in pieces of some bytes. */
function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  if (size >= bytes.length) return [bytes];
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

const eventsOf = (text: string) => text.split(/\r\n\r\n|\n\n/).filter((event) => event !== "");

describe("a recorded stream of a provider", () => {
  test.each(recorded)("is passed on event by event: $style $file in pieces of $size", async (each) => {
    const { protocol, file, size } = each;
    const bytes = new Uint8Array(readFileSync(join(root, protocol.driver, file)));
    const gateway = await behind(protocol, () => ({ body: pieces(bytes, size) }));
    const more = protocol.named ? { stream: true, stream_options: { include_usage: true } } : {};
    const response = await send(gateway, protocol.path(true), requestText(protocol, more));
    const text = await response.text();
    await gateway.settle();
    const names = /("(?:model|modelVersion)":\s*)"[^"]*"/g;
    const sent = eventsOf(new TextDecoder().decode(bytes));
    const got = eventsOf(text);
    // What follows the end of the answer is not waited for.
    const isEnd = (event: string) => /^data: ?\[DONE\]/.test(event) && protocol.driver === "openai-responses";
    expect(got.map((event) => event.replace(names, "$1"))).toEqual(
      sent.filter((event) => !isEnd(event)).map((event) => event.replace(names, "$1")),
    );
    for (const [, name] of text.matchAll(/"(?:model|modelVersion)":\s*"([^"]*)"/g))
      expect(["", protocol.echoed]).toContain(name);
    expect((await gateway.history())[0]).toMatchObject({ status: "success", path: "native" });
  });
});

describe("a native stream", () => {
  test.each([
    ["messages", "text.sse", 'event: message_start\ndata: {"type":"further'],
    ["chat-completions", "openai-mock-api-text.sse", 'data: {"id":"further'],
    ["responses", "text.sse", 'event: response.created\ndata: {"further'],
  ])("ends with whole events, although more follows in the same read: %s", async (style, file, fragment) => {
    const protocol = PROTOCOLS[style];
    if (protocol === undefined) throw new Error("there is no such protocol");
    const stream = readFileSync(join(root, protocol.driver, file), "utf8");
    const gateway = await behind(protocol, () => ({ body: [stream + fragment] }));
    const text = requestText(protocol, { stream: true, stream_options: { include_usage: true } });
    const response = await send(gateway, protocol.path(true), text);
    const answer = await response.text();
    expect(answer).not.toContain("further");
    expect(eventsOf(answer)).toHaveLength(
      eventsOf(stream).filter((event) => !/^data: ?\[DONE\]/.test(event) || style !== "responses").length,
    );
    await gateway.settle();
  });
});

describe("an error that Google writes into a stream", () => {
  const gemini = PROTOCOLS["content-generation"];
  if (gemini === undefined) throw new Error("there is no content-generation protocol");
  const chunk = `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "Hi" }] } }] })}\n\n`;
  const unframed = (text: string) => text.replaceAll(/data: |\s|"responseId":"[^"]+"/g, "");
  const outcomeOf = async (native: boolean, body: string[]) => {
    const gateway = await behind(gemini, () => ({ body }), { native });
    const response = await send(gateway, gemini.path(true), requestText(gemini));
    const text = await response.text();
    await gateway.settle();
    const [record] = await gateway.history();
    const { status, status_code, error, content } = record ?? {};
    return { text, status: response.status, record: { status, status_code, error, content } };
  };

  describe.each([true, false])("native: %s", (native) => {
    const errorOf = (code: number, status: string) => {
      const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" };
      return JSON.stringify({ error: { code, status, message: "spent", details: [retry] } });
    };
    test.each([
      ["as its first item", [], 429, "RESOURCE_EXHAUSTED", 429],
      ["as its last item", [chunk], 429, "RESOURCE_EXHAUSTED", 200],
      ["as its first item", [], 400, "INVALID_ARGUMENT", 400],
      ["as its last item", [chunk], 400, "INVALID_ARGUMENT", 200],
    ])("is the same without `data:`: %s, %j, %i %s", async (_, before, code, kind, status) => {
      const error = errorOf(code, kind);
      const expected = await outcomeOf(native, [...before, `data: ${error}\n\n`]);
      expect(expected.status).toBe(status);
      expect(expected.text).toContain(kind);
      const half = error.length >> 1;
      for (const bare of [
        [...before, error],
        [...before, `${error}\n\n`],
        [...before, error.slice(0, half), error.slice(half)],
      ]) {
        const { text, ...outcome } = await outcomeOf(native, bare);
        expect(outcome).toEqual({ status, record: expected.record });
        // On the native path, the caller gets the error as the provider wrote it.
        expect(unframed(text)).toBe(unframed(expected.text));
      }
    });
  });
});

describe("a native chat stream", () => {
  const chat = PROTOCOLS["chat-completions"];
  if (chat === undefined) throw new Error("there is no chat protocol");
  const chunk = (more: object) => `data: ${JSON.stringify({ id: "c", model: "snapshot", ...more })}\n\n`;
  const delta = (text: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: text, finish_reason }] });
  const usage = chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
  const good = [
    delta({ role: "assistant" }),
    delta({ content: "Hi" }),
    delta({}, "stop"),
    usage,
    "data: [DONE]\n\n",
  ];
  const ask = (gateway: MemoryGateway, more: object = {}) =>
    send(gateway, chat.path(true), requestText(chat, { stream: true, ...more }));

  test("states its usage only to the gateway if the caller did not request it", async () => {
    const gateway = await behind(chat, () => ({ body: good }));
    const text = await (await ask(gateway)).text();
    expect(gateway.upstream.asked[0]?.json()["stream_options"]).toEqual({ include_usage: true });
    expect(text).not.toContain("usage");
    expect(text).toContain("[DONE]");
    expect((await gateway.history())[0]).toMatchObject({ prompt_tokens: 7, completion_tokens: 3 });
  });

  test("states its usage to a caller who requests it", async () => {
    const gateway = await behind(chat, () => ({ body: good }));
    const stream_options = { include_usage: true, include_obfuscation: false };
    const text = await (await ask(gateway, { stream_options })).text();
    expect(gateway.upstream.asked[0]?.json()["stream_options"]).toEqual(stream_options);
    expect(text).toContain("usage");
  });

  test.each([
    '{"include_usage":false}',
    '{"include_usage":null}',
    '{"include_usage":false},"stream_options":{"include_usage":false}',
  ])("is counted by its usage, although the caller disabled it: %s", async (options) => {
    const gateway = await behind(chat, () => ({ body: good }));
    const request = requestText(chat, { stream: true }).replace("{", `{"stream_options":${options},`);
    const text = await (await send(gateway, chat.path(true), request)).text();
    expect(gateway.upstream.asked[0]?.body.match(/"stream_options":\{[^}]*\}/g)).toEqual([
      '"stream_options":{"include_usage":true}',
    ]);
    expect(text).not.toContain("usage");
    expect((await gateway.history())[0]).toMatchObject({ prompt_tokens: 7, completion_tokens: 3 });
  });

  test.each([
    '{"include_usage":true,"Include_usage":false}',
    '{"include_usage":false,"include_usage":true}',
    '{"include_usage":true},"stream_options":{"include_usage":true}',
  ])("requests its usage in a form that all parsers read equally: %s", async (options) => {
    const gateway = await behind(chat, () => ({ body: good }));
    const request = requestText(chat, { stream: true }).replace("{", `{"stream_options":${options},`);
    expect(await (await send(gateway, chat.path(true), request)).text()).toContain("usage");
    const body = gateway.upstream.asked[0]?.body ?? "";
    expect(body.match(/"stream_options"/g)).toHaveLength(1);
    expect(body.match(/"include_usage":true\}/gi)).toHaveLength(1);
  });

  test("without a stated usage is estimated by the text of all choices", async () => {
    const words = "one two three four five six seven eight nine ten ".repeat(10);
    const piece = (index: number, text: object) => chunk({ choices: [{ index, delta: text }] });
    const counted = async (more: readonly string[]) => {
      const gateway = await behind(chat, () => ({
        body: [piece(0, { content: words }), ...more, delta({}, "stop"), "data: [DONE]\n\n"],
      }));
      await (await ask(gateway, { n: 4 })).text();
      return Number((await gateway.history())[0]?.["completion_tokens"]);
    };
    const one = await counted([]);
    expect(one).toBeGreaterThan(50);
    const others = [{ content: words }, { reasoning_content: words }, { content: [{ text: words }] }];
    expect(await counted(others.map((text, index) => piece(index + 1, text)))).toBe(4 * one);
  });

  test("is not sent if it names its token limit twice", async () => {
    const gateway = await behind(chat, () => ({ body: good }));
    const text = requestText(chat, { stream: true, max_tokens: 5 }).replace("{", '{"max_tokens":500000,');
    expect((await send(gateway, chat.path(true), text)).status).toBe(400);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("goes to another account if only its role was received", async () => {
    const replies: Reply[] = [{ body: [delta({ role: "assistant" }), "reset"] }, { body: good }];
    const upstream = new ScriptedUpstream(() => replies.shift() ?? "unreachable");
    const accounts = ["one", "two"].map((token) => ({ token, provider: "vendor" }));
    const config = { accounts, providers: [providerOf("openai")] };
    const gateway = await createGateway({ upstream, config });
    const text = await (await ask(gateway)).text();
    expect(text.match(/"role"/g)).toHaveLength(1);
    expect(text).toContain("[DONE]");
  });

  test("that is cut gets the style's error event after whole events", async () => {
    const gateway = await behind(chat, () => ({
      body: [delta({ content: "Hi" }), 'data: {"id":"half', "reset"],
    }));
    const text = await (await ask(gateway)).text();
    expect(text).not.toContain("half");
    expect(JSON.parse(eventsOf(text)[1]?.replace("data: ", "") ?? "")).toMatchObject({
      error: { code: "upstream_error" },
    });
    expect((await gateway.history())[0]).toMatchObject({ status: "error" });
  });

  test.each([
    ["abort", "data: [DONE]\n\n"],
    ["error", ""],
    ["insufficient_system_resource", "data: [DO"],
  ])(
    "whose finish reason is %s keeps its last text, and ends with the style's error event",
    async (reason, following) => {
      const gateway = await behind(chat, () => ({
        body: [delta({ content: "Hi" }), delta({ content: " thére" }, reason) + following],
      }));
      const events = eventsOf(await (await ask(gateway)).text());
      expect(events).toHaveLength(3);
      expect(events[1]).toContain(" thére");
      expect(JSON.parse(events[2]?.replace("data: ", "") ?? "")).toMatchObject({
        error: { code: "upstream_error" },
      });
      expect((await gateway.history())[0]).toMatchObject({ status: "error" });
    },
  );

  test("passes on the provider's own error event, unless it contains the account's key", async () => {
    const failing = (message: string) => ({
      body: [
        delta({ content: "Hi" }),
        `data: {"error":{"message":"${message}","type":"server_error","x":1}}\n\n`,
      ],
    });
    const gateway = await behind(chat, () => failing("overheated"));
    expect(eventsOf(await (await ask(gateway)).text()).at(-1)).toBe(
      'data: {"error":{"message":"overheated","type":"server_error","x":1}}',
    );
    const leaking = await behind(chat, () => failing("key sk-of-the-account is bad"));
    expect(await (await ask(leaking)).text()).not.toContain("sk-of-the-account");
  });

  test("does not buffer endless comments or an endless event", async () => {
    const comments = Array.from({ length: 400 }, () => `: ${"x".repeat(1_000)}\n\n`);
    const gateway = await behind(chat, () => ({ body: [...comments, "reset"] }));
    const response = await ask(gateway);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("xxx");
    const half = Array.from({ length: 40 }, () => "x".repeat(2 ** 20));
    const endless = await behind(chat, () => ({
      body: [delta({ content: "Hi" }), "data: ", ...half, "silence"],
    }));
    const answer = ask(endless).then((streamed) => streamed.text());
    await endless.settle();
    expect(await answer).toContain("upstream_error");
  });

  test("continues if a meaningless member names models that the key may not use", async () => {
    const key = { key: "sk-few", models: [MODEL] };
    const upstream = new ScriptedUpstream(() => ({ body: good }));
    const gateway = await createGateway({
      upstream,
      config: { providers: [providerOf("openai")], api_keys: [key] },
    });
    const text = requestText(chat, { stream: true, models: ["dear"] });
    const headers = { authorization: "Bearer sk-few" };
    expect(await (await send(gateway, chat.path(true), text, headers)).text()).toContain("Hi");
    expect(upstream.asked[0]?.body).not.toContain("dear");
  });

  test("ends if the provider sends only comments after its first text", async () => {
    const comments = Array.from(
      { length: 100 },
      () => [": still here\n\n", { pause: 10_000 }] as const,
    ).flat();
    const gateway = await behind(chat, () => ({ body: [delta({ content: "Hi" }), ...comments] }), {
      answer_timeout_ms: 30_000,
    });
    const answer = ask(gateway).then((streamed) => streamed.text());
    await gateway.settle();
    expect(await answer).toContain("upstream_timeout");
  });

  test("continues with another account if an error follows reasoning alone", async () => {
    const failing = [
      delta({ reasoning_content: "Hm." }),
      'data: {"error":{"message":"over","type":"server_error"}}\n\n',
    ];
    const replies: Reply[] = [{ body: failing }, { body: good }];
    const upstream = new ScriptedUpstream(() => replies.shift() ?? "unreachable");
    const accounts = ["one", "two"].map((token) => ({ token, provider: "vendor" }));
    const gateway = await createGateway({
      upstream,
      config: { accounts, providers: [providerOf("openai")] },
    });
    const text = await (await ask(gateway)).text();
    expect(text).not.toContain("error");
    expect(text).toMatch(/Hm\.[\s\S]*Hi[\s\S]*\[DONE\]/);
  });

  test("passes on a first event without a model, and an answer without content", async () => {
    const filter = chunk({
      model: "",
      choices: [],
      prompt_filter_results: [{}],
      usage: { prompt_tokens: 1 },
    });
    const gateway = await behind(chat, () => ({
      body: [filter, delta({}, "stop"), usage, "data: [DONE]\n\n"],
    }));
    const response = await ask(gateway);
    expect(response.status).toBe(200);
    expect(eventsOf(await response.text())).toHaveLength(3);
  });

  test("leaves out a member that the provider refuses by name, and reports this", async () => {
    const refusal = {
      status: 400,
      json: { error: { message: "Unsupported parameter: 'seed' is not supported" } },
    };
    const gateway = await behind(chat, (asked) => (asked.body.includes('"seed"') ? refusal : { body: good }));
    for (const requests of [2, 3]) {
      const response = await ask(gateway, { seed: 1 });
      expect(response.headers.get("x-gateway-dropped-params")).toBe("seed");
      expect(await response.text()).toContain("Hi");
      expect(gateway.upstream.asked).toHaveLength(requests);
    }
  });

  test("without the tool call that it must have ends with an error", async () => {
    const gateway = await behind(chat, () => ({ body: good }));
    const text = await (
      await ask(gateway, { tools: [{ type: "function", function: { name: "f" } }], tool_choice: "required" })
    ).text();
    expect(text).toContain("tool_choice_violation");
    expect(text).not.toContain("[DONE]");
  });
});

describe("a chain of native responses", () => {
  const responses = PROTOCOLS["responses"];
  if (responses === undefined) throw new Error("there is no responses protocol");

  test("keeps all items in the gateway's own store", async () => {
    const gateway = await behind(responses, () => whole(responses));
    const first = await send(
      gateway,
      "/v1/responses",
      requestText(responses, { store: true, include: ["x"] }),
    );
    const { id, output } = JSON.parse(await first.text());
    expect(gateway.upstream.asked[0]?.json()).toMatchObject({
      store: false,
      include: ["x", "reasoning.encrypted_content"],
    });
    expect(
      JSON.parse(
        await (
          await gateway.request(`/v1/responses/${id}`, { headers: { authorization: `Bearer ${KEY}` } })
        ).text(),
      ),
    ).toMatchObject({ id, output });
    const next = { previous_response_id: id, input: [{ role: "user", content: "And?", odd: 1 }] };
    expect((await send(gateway, "/v1/responses", requestText(responses, next))).status).toBe(200);
    const { input, previous_response_id } = gateway.upstream.asked[1]?.json() ?? {};
    expect(previous_response_id).toBeUndefined();
    expect(input).toEqual([
      expect.objectContaining({ role: "user" }),
      ...output,
      { role: "user", content: "And?", odd: 1 },
    ]);
  });
});
