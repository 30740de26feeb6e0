const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

/** JSON at the edge of what is taken. */
export const JSON_TEXTS: readonly string[] = [
  '{"a":[1,{"b":"c\\"[{\\\\"}],"d":null,"e":1.5e3}',
  nested(511),
  nested(513),
  `${'{"a":'.repeat(512)}1${"}".repeat(512)}`,
  '"[[[[\\u005b"',
  `[${"{},".repeat(50)}{}]`,
];

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const named = (name: string, data: unknown) => `event: ${name}\n${event(data)}`;
const delta = (piece: unknown, reason: string | null = null) =>
  event({ id: "a", choices: [{ index: 0, delta: piece, finish_reason: reason }] });

/** Answers of each driver's protocol. */
export const STREAMS: Readonly<Record<string, readonly string[]>> = {
  sessions: [
    named("start", { message_id: 1 }) +
      named("reasoning", { text: "Hm." }) +
      named("search", { results: [{ index: 1, url: "https://example.com", title: "x" }] }) +
      named("text", { text: "Hé [citation:1]" }) +
      named("usage", { prompt_tokens: 1, completion_tokens: 2 }) +
      named("finish", { reason: "stop" }),
    named("start", { message_id: "m" }) + named("error", { kind: "rate_limited", message: "a-secret-token" }),
  ],
  openai: [
    delta({ role: "assistant", reasoning_content: "Hm." }) +
      delta({ content: "Hé" }) +
      delta({ tool_calls: [{ index: 0, id: "c", function: { name: "run", arguments: '{"a"' } }] }) +
      delta({ tool_calls: [{ index: 1, id: "d", function: { name: "go", arguments: "{}" } }] }) +
      delta({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }) +
      delta({}, "tool_calls") +
      event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }) +
      "data: [DONE]\n\n",
    event({ error: { message: "no", code: 429 } }),
  ],
  gemini: [
    event({ candidates: [{ content: { parts: [{ text: "Hm.", thought: true }] } }], responseId: "r" }) +
      event({ candidates: [{ content: { parts: [{ text: "Hé" }] }, index: 0 }] }) +
      event({
        candidates: [
          {
            content: {
              parts: [{ functionCall: { name: "run", args: { a: 1 } }, thoughtSignature: "c2VhbGVk" }],
            },
            groundingMetadata: {
              groundingChunks: [{ web: { uri: "https://example.com", title: "x" } }],
              groundingSupports: [{ segment: { endIndex: 3, text: "Hé" }, groundingChunkIndices: [0] }],
            },
            finishReason: "STOP",
          },
        ],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, thoughtsTokenCount: 3 },
      }),
    event({ promptFeedback: { blockReason: "SAFETY" } }),
    event({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "a-secret-token" } }),
  ],
  "openai-responses": [
    event({ type: "response.created", response: { id: "r" } }) +
      event({ type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "rs" } }) +
      event({
        type: "response.reasoning_summary_text.delta",
        output_index: 0,
        summary_index: 0,
        delta: "Hm.",
      }) +
      event({
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "reasoning", id: "rs", summary: [], encrypted_content: "sealed" },
      }) +
      event({ type: "response.output_item.added", output_index: 1, item: { type: "message" } }) +
      event({ type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "Hé" }) +
      event({ type: "response.output_item.done", output_index: 1, item: { type: "message", content: [] } }) +
      event({
        type: "response.output_item.added",
        output_index: 2,
        item: { type: "function_call", call_id: "c", name: "run", arguments: "" },
      }) +
      event({ type: "response.function_call_arguments.delta", output_index: 2, delta: '{"a":1}' }) +
      event({
        type: "response.output_item.done",
        output_index: 2,
        item: { type: "function_call", call_id: "c", name: "run", arguments: '{"a":1}' },
      }) +
      event({
        type: "response.completed",
        response: { id: "r", status: "completed", output: [], usage: { input_tokens: 1, output_tokens: 2 } },
      }),
    event({
      type: "response.failed",
      response: { error: { code: "server_error", message: "a-secret-token" } },
    }),
  ],
  anthropic: [
    named("message_start", { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } }) +
      named("content_block_start", {
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: "" },
      }) +
      named("content_block_delta", {
        type: "content_block_delta",
        index: 0,
        delta: { type: "thinking_delta", thinking: "Hm." },
      }) +
      named("content_block_stop", { type: "content_block_stop", index: 0 }) +
      named("content_block_start", {
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "c", name: "run", input: {} },
      }) +
      named("content_block_delta", {
        type: "content_block_delta",
        index: 1,
        delta: { type: "input_json_delta", partial_json: '{"a":1}' },
      }) +
      named("content_block_stop", { type: "content_block_stop", index: 1 }) +
      named("message_delta", {
        type: "message_delta",
        delta: { stop_reason: "tool_use" },
        usage: { output_tokens: 2 },
      }) +
      named("message_stop", { type: "message_stop" }),
    named("error", { type: "error", error: { type: "overloaded_error", message: "no" } }),
  ],
};

/** Forms whose boundary is `boundary`. */
export const FORMS: readonly string[] = [
  '--boundary\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n' +
    '--boundary\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n' +
    "--boundary--\r\n",
  "--boundary\r\nContent-Disposition: form-data; name=\"file\"; filename*=utf-8''%e2%82%ac\r\n\r\n--bound\r\n--boundary--",
  "--boundary\r\nContent-Disposition: form-data\r\n\r\n\r\n--boundary--\r\n",
  '--boundary\r\nContent-Type: application/json\r\n\r\n{"file":{"displayName":"a"}}\r\n--boundary\r\nContent-Type: text/css\r\n\r\na{}\r\n--boundary--\r\n',
];

/** Pages with all that is read of them. */
export const PAGES: readonly string[] = [
  '<!doctype html><html><head><base href="/a/"><meta name="generator" content="X 1"><title>T</title>' +
    '<link rel="stylesheet" href="s.css"><style>a{b:c}</style><script src="x.js"></script><script>var a="</div>"</script>' +
    "</head><body><p>one<p>two<svg><foreignObject><div>x</div></foreignObject></svg><form><form></form></form>" +
    "<table><tr><td>y</table><!-- c --><![CDATA[z]]>&amp;&#x41;&bogus;</body></html>",
  `${"<div>".repeat(600)}${"</div>".repeat(600)}<p>end`,
  "</p></br><image src=x><math><mi>x</math>",
];

const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
/** What proxies of both kinds reply. */
export const REPLIES = {
  http: [
    `${answer}Content-Length: 5\r\n\r\nhello`,
    `HTTP/1.1 100 Continue\r\n\r\n${answer}Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n`,
    "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
    `${answer}Content-Encoding: gzip\r\n\r\nxx`,
  ],
  socks5: [
    `\x05\x00\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50${answer}Content-Length: 5\r\n\r\nhello`,
    `\x05\x02\x01\x00\x05\x00\x00\x03\x04host\x00\x50${answer}\r\nhello`,
    "\x05\x00\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00",
  ],
} as const;

/** Addresses as people, and others, write them. */
export const URLS: readonly string[] = [
  "example.com",
  "https://example.com:8443/a?b#c",
  "http://127.0.0.1/",
  "http://0x7f.1/",
  "http://2130706433/",
  "http://[::ffff:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://user:password@example.com/",
  "http://localhost./",
  "http://１２７.０.０.１/",
  "//169.254.169.254/latest",
  "javascript:alert(1)",
  "http://example.com%2f@127.0.0.1/",
  "http:\\\\127.0.0.1",
];
