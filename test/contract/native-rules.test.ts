import { type IncomingHttpHeaders, type ServerResponse, request as startRequest } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** What the native path sends, returns, withholds and refuses (docs/contract/native-path.md), over HTTP with a vendor of each protocol. */

const running = useAdmin();

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
let answer: (response: ServerResponse, request: Received) => void | Promise<void> = () => undefined;

const TOKEN = "sk-vendor-0123456789";
/** The providers of the protocols, and their paths below the vendor's address. */
const PROVIDERS = [
  ["chat", "openai", "/v1"],
  ["resp", "openai-responses", "/v1"],
  ["mess", "anthropic", ""],
  ["cont", "gemini", "/v1beta"],
] as const;

const vendor = await serve(async (request, response) => {
  const asked = { path: request.url ?? "", headers: request.headers, body: await text(request) };
  received.push(asked);
  await answer(response, asked);
});

beforeAll(async () => {
  for (const [id, driver, path] of PROVIDERS) {
    const provider = { id, driver, base_url: vendor.origin + path, token: TOKEN, models: {} };
    expect((await running.admin("POST", "/admin/providers", provider)).status).toBe(200);
  }
  const limited = { key: "sk-limited", limits: { requests_per_minute: 1_000 } };
  expect((await running.admin("POST", "/admin/keys", limited)).status).toBe(200);
});
afterAll(() => vendor.close());
beforeEach(() => {
  received.length = 0;
});

interface Style {
  readonly name: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer: object;
  /** Query and headers that reach the vendor. */
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the vendor's answer that reach the caller. */
  readonly returned: Readonly<Record<string, string>>;
  /** The vendor's refusal, and what the caller reads. */
  readonly refusal: { readonly error: Readonly<Record<string, unknown>> };
  /** Whether the body names the model. */
  readonly named: boolean;
}

const OPENAI_HEADERS = {
  "openai-beta": "responses_websockets=2099-01-01",
  "x-codex-turn-state": "opaque",
  "x-codex-turn-metadata": '{"a":1}',
  originator: "codex_cli_rs",
  session_id: "s-1",
};
const OPENAI_RETURNED = {
  "openai-processing-ms": "7",
  "openai-version": "2020-10-01",
  "x-codex-primary-used-percent": "12.5",
  "x-ratelimit-remaining-requests": "9",
  "x-ratelimit-reset-tokens": "6m0s",
};
const OPENAI_REFUSAL = {
  error: {
    message: "Odd  spacing,\nlines and `marks`: input[3].content",
    type: "a_new_type",
    code: "a_new_code",
    param: "input[3].content",
  },
};

const STYLES: readonly Style[] = [
  {
    name: "chat completions",
    path: "/v1/chat/completions",
    body: { model: "chat/m", messages: [{ role: "user", content: "Hello?" }] },
    answer: {
      id: "c",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    },
    headers: OPENAI_HEADERS,
    returned: OPENAI_RETURNED,
    refusal: OPENAI_REFUSAL,
    named: true,
  },
  {
    name: "text completions",
    path: "/v1/completions",
    body: { model: "chat/m", prompt: "Hello?" },
    answer: { id: "c", choices: [{ index: 0, text: "Hi", finish_reason: "stop" }] },
    headers: OPENAI_HEADERS,
    returned: OPENAI_RETURNED,
    refusal: OPENAI_REFUSAL,
    named: true,
  },
  {
    name: "responses",
    path: "/v1/responses",
    body: { model: "resp/m", input: "Hello?", store: false },
    answer: {
      id: "resp_1",
      status: "completed",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] }],
    },
    headers: OPENAI_HEADERS,
    returned: OPENAI_RETURNED,
    refusal: OPENAI_REFUSAL,
    named: true,
  },
  {
    name: "messages",
    path: "/v1/messages",
    body: { model: "mess/m", max_tokens: 16, messages: [{ role: "user", content: "Hello?" }] },
    answer: {
      id: "msg_1",
      type: "message",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
    },
    query: "beta=true",
    headers: {
      "anthropic-version": "2099-01-01",
      "anthropic-beta": "never-heard-of-2099-01-01,other,third-2098-01-01",
      "anthropic-dangerous-direct-browser-access": "true",
      "x-claude-code-session-id": "s-2",
      "x-app": "cli",
    },
    returned: {
      "anthropic-ratelimit-unified-5h-utilization": "0.5",
      "anthropic-ratelimit-requests-remaining": "9",
      "anthropic-new": "x",
    },
    refusal: {
      error: {
        message: "input length and `max_tokens` exceed context limit: 9 + 9 > 10,  decrease input length",
        type: "invalid_request_error",
      },
    },
    named: true,
  },
  {
    name: "content generation",
    path: "/v1beta/models/cont/m:generateContent",
    body: { contents: [{ role: "user", parts: [{ text: "Hello?" }] }] },
    answer: { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] },
    headers: { "x-goog-api-client": "google-genai-sdk/9 gl-node/99", "x-server-timeout": "77" },
    returned: { "x-goog-new": "x" },
    refusal: { error: { message: "Odd  spacing,\nand lines", status: "OUT_OF_RANGE" } },
    named: false,
  },
];

const COMMON = {
  "user-agent": "agent/1",
  "x-client-request-id": "mine-1",
  "x-stainless-lang": "js",
  "x-stainless-retry-count": "2",
  "x-session-affinity": "a-1",
  "http-referer": "https://app.example",
  "x-title": "An app",
  "x-openrouter-title": "An app",
};

/** Headers that never reach the vendor, and headers of its answer that never reach the caller. */
const NEVER_SENT = {
  cookie: "secret=1",
  origin: "https://page.example",
  referer: "https://page.example/x",
  forwarded: "for=192.0.2.7",
  "x-forwarded-for": "192.0.2.7",
  "x-real-ip": "192.0.2.7",
  "true-client-ip": "192.0.2.7",
  via: "1.1 proxy",
  "cdn-loop": "x",
  "x-amz-date": "20990101T000000Z",
  "x-gateway-source": "here",
  // The name of a member that all objects inherit.
  constructor: "x",
  "proxy-authorization": "Basic eA==",
  "openai-organization": "org-mine",
  "openai-project": "proj-mine",
  "anthropic-workspace-id": "w-mine",
  "x-goog-user-project": "p-mine",
  "chatgpt-account-id": "acc-mine",
};
const NEVER_RETURNED = {
  "set-cookie": "a=b",
  "alt-svc": 'h3=":443"',
  "cf-ray": "1-X",
  "openai-organization": "org-theirs",
  "anthropic-organization-id": "org-theirs",
  "retry-after": "3",
};

const json = (value: object, headers: Record<string, string> = {}, status = 200) => {
  answer = (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(value));
  };
};

function send({ path, query }: Style, text: string, headers: Record<string, string> = {}, key = "sk-dev") {
  return running.fetch(query === undefined ? path : `${path}?${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
    body: text,
  });
}

describe.each(STYLES)("$name at a provider of the same protocol", (style) => {
  const text = JSON.stringify(style.body);

  it("passes on headers and query of the protocol, and no others", async () => {
    json(style.answer);
    const response = await send(style, text, { ...COMMON, ...style.headers, ...NEVER_SENT });
    expect(response.status).toBe(200);
    await response.body?.cancel();
    const [asked] = received;
    expect(asked?.headers).toMatchObject({ ...COMMON, ...style.headers, "content-type": "application/json" });
    expect(new URL(asked?.path ?? "", "http://v").search).toBe(
      style.query === undefined ? "" : `?${style.query}`,
    );
    expect(Object.keys(asked?.headers ?? {}).filter((name) => Object.hasOwn(NEVER_SENT, name))).toEqual([]);
    expect(JSON.stringify(asked)).not.toContain("sk-dev");
  });

  it("returns headers of the protocol, and its rate limits only to keys without limits", async () => {
    json(style.answer, {
      ...style.returned,
      ...NEVER_RETURNED,
      "x-request-id": "up-1",
      "retry-after-ms": "5",
    });
    const response = await send(style, text);
    await response.body?.cancel();
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      ...style.returned,
      "x-gateway-path": "native",
      "x-gateway-upstream-request-id": "up-1",
      "retry-after-ms": "5",
    });
    expect(Object.keys(headers).filter((name) => Object.hasOwn(NEVER_RETURNED, name))).toEqual([]);
    const limited = await send(style, text, {}, "sk-limited");
    await limited.body?.cancel();
    expect(limited.status).toBe(200);
    for (const [name, value] of Object.entries(style.returned)) {
      if (name.includes("ratelimit")) expect(limited.headers.get(name)).not.toBe(value);
      else expect(limited.headers.get(name)).toBe(value);
    }
  });

  it("is refused if it names model or stream twice, or in another case", async () => {
    json(style.answer);
    const twice = ['"stream":false,"stream":false,', '"str\\u0065am":false,"stream":true,'];
    twice.push('"Stream":true,', '"Model":"other",');
    if (style.named) twice.push('"model":"other",', '"mod\\u0065l":"other",');
    for (const members of twice) {
      const response = await send(style, text.replace("{", `{${members}`));
      expect(response.status).toBe(400);
      await response.body?.cancel();
    }
    expect(received).toEqual([]);
  });

  it.each([400, 404, 413, 422])("is refused in the provider's own words: %d", async (status) => {
    // Another 404 says that the provider has no text completions.
    const isMissing = style.name === "text completions" && status === 404;
    const error = { ...style.refusal.error, ...(isMissing ? { code: "model_not_found" } : {}) };
    json({ error: style.named ? error : { code: status, ...error } }, {}, status);
    const response = await send(style, text);
    expect(response.status).toBe(status);
    expect(JSON.parse(await response.text()).error).toMatchObject(error);
  });

  it.each([
    [401, 401],
    [403, 503],
    [500, 503],
    [503, 503],
    [529, 503],
  ])(
    "reports failures of account and provider as with other protocols, without credentials: %d",
    async (status, expected) => {
      json({ error: { message: `about ${TOKEN}`, type: "x", code: "y" } }, { "retry-after": "3" }, status);
      const response = await send(style, text);
      expect(response.status).toBe(expected);
      expect(await response.text()).not.toContain(TOKEN);
      expect(response.headers.get("retry-after")).toBeNull();
    },
  );

  it("reports a rate limit without Retry-After, but with retry-after-ms", async () => {
    const detail = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3s" };
    json({ error: { message: "slow down", details: [detail] } }, { "retry-after": "3" }, 429);
    const response = await send(style, text);
    expect(response.status).toBe(429);
    await response.body?.cancel();
    expect(response.headers.get("retry-after")).toBeNull();
    expect(response.headers.get("retry-after-ms")).toBe("3000");
  });
});

describe("an image in a native request", () => {
  /** The vendor states no usage. */
  const said = { id: "c", choices: [{ index: 0, message: { content: "A cat" }, finish_reason: "stop" }] };
  const url = `data:image/png;base64,${"iVBORw0K".repeat(30_000)}`;
  const body = JSON.stringify({
    model: "chat/m",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url } },
        ],
      },
    ],
  });

  it("does not count as text towards a limit of tokens, in usage and in the history", async () => {
    const limited = { key: "sk-tokens", limits: { tokens_per_minute: 20_000 } };
    expect((await running.admin("POST", "/admin/keys", limited)).status).toBe(200);
    answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(said));
    };
    const response = await running.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: "Bearer sk-tokens", "content-type": "application/json" },
      body,
    });
    expect([response.status, response.headers.get("x-gateway-path")]).toEqual([200, "native"]);
    await response.text();
    const last = async () => Object((await running.admin("GET", "/admin/chat-history")).body["items"])[0];
    const record = await until(last, ({ status }) => status === "success");
    expect(record.prompt_tokens).toBeLessThan(100);
    const { body: whole } = await running.admin("GET", `/admin/chat-history/${record.id}`);
    expect(JSON.stringify(whole)).not.toContain("iVBORw0KiVBORw0K");
  });
});

describe("a stream of contents", () => {
  it("has a late error in a separate chunk, as Google's SDK needs it", async () => {
    const good = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] } }] };
    const error = { error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } };
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify(good)}\n\n${JSON.stringify(error)}`);
    };
    const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hello?" }] }] });
    const chunks = await chunksOf("/v1beta/models/cont/m:streamGenerateContent?alt=sse", body);
    expect(chunks.join("")).toBe(`data: ${JSON.stringify(good)}\n\n${JSON.stringify(error)}`);
    expect(JSON.parse(chunks.at(-1) ?? "")).toEqual(error);
  });
});

/** The chunks of an answer as the gateway wrote them. `fetch` joins those that arrive together. */
function chunksOf(path: string, body: string): Promise<string[]> {
  const headers = { authorization: "Bearer sk-dev", "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const chunks: string[] = [];
    startRequest(`${running.gateway.url}${path}`, { method: "POST", headers }, (response) => {
      response.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
      response.on("end", () => resolve(chunks));
    })
      .on("error", reject)
      .end(body);
  });
}
