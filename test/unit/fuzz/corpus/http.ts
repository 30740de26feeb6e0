/** Requests of strangers and administrators, as `messageIn` reads them: `METHOD path`, headers, body. */

const KEY = "authorization: Bearer sk-test";
const ADMIN = "authorization: Bearer admin";
const JSON_TYPE = "content-type: application/json";

const get = (path: string, ...headers: string[]) => [`GET ${path}`, ...headers, "", ""].join("\n");
const send = (method: string, path: string, body: string, ...headers: string[]) =>
  [`${method} ${path}`, JSON_TYPE, ...headers, "", body].join("\n");

const CONFIG = JSON.stringify({
  keys: ["sk-imported"],
  api_keys: [
    {
      key: "sk-with-limits",
      limits: { tokens_per_minute: 1_000, cost_per_month: 0.5 },
      networks: ["10.0.0.0/8"],
    },
  ],
  accounts: [
    { email: "new@sandbox.test", password: "sandbox" },
    { token: "a-token", proxy: "proxy-1" },
  ],
  proxies: [{ id: "proxy-1", type: "socks5", host: "proxy.example", port: 1080 }],
  model_aliases: { fast: "provider-v4-flash" },
  prices: { "provider-v4-flash": { input: 1, output: 2 } },
  history: { limit: 100 },
});

export const ADMIN_REQUESTS: readonly string[] = [
  get(
    "/admin/chat-history?page=2&page_size=10&q=text&status=error,success&code=4xx,200&from=2026-01-31&min_ms=5",
    ADMIN,
  ),
  get("/admin/chat-history/export?format=csv&texts=true&to=1800000000000&min_tokens=1", ADMIN),
  get(
    "/admin/usage?from=2026-01-01&granularity=day&group_by=key,model&limit=5&format=csv&outcome=success",
    ADMIN,
  ),
  get("/admin/activity?range=1h", ADMIN),
  get("/admin/accounts?page=1&page_size=5&q=one&status=ok", ADMIN),
  get("/admin/audit?page=1&page_size=5&who=key&action=PUT&q=x&since=1&until=2026-01-31", ADMIN),
  get("/admin/keys?q=sk&page=1", ADMIN),
  get("/admin/config/export", ADMIN, 'if-none-match: "1"'),
  get("/admin/dev/raw-samples/query?q=hello&limit=3", ADMIN),
  get("/admin/metrics", ADMIN),
  get("/admin/config/versions/1", ADMIN),
  send("POST", "/admin/config/import?mode=merge", CONFIG, ADMIN),
  send(
    "POST",
    "/admin/config/import",
    JSON.stringify({ mode: "replace", confirm: true, config: CONFIG }),
    ADMIN,
  ),
  send("POST", "/admin/config/import", JSON.stringify({ json: CONFIG, mode: "merge" }), ADMIN),
  send(
    "PUT",
    "/admin/settings",
    '{"runtime":{"account_max_inflight":2},"history":{"limit":1e3}}',
    ADMIN,
    'if-match: "1"',
  ),
  send("POST", "/admin/keys", '{"key":"sk-more","name":"n","limits":{"requests_per_minute":5}}', ADMIN),
  send("PUT", "/admin/model-aliases", '{"aliases":{"a":"provider-v4-flash"}}', ADMIN),
  send("POST", "/admin/accounts", '{"email":"x@sandbox.test","password":"p","name":"n"}', ADMIN),
  send("POST", "/admin/import", '{"keys":["a"],"accounts":[{"mobile":"123456","password":"p"}]}', ADMIN),
  send("POST", "/admin/proxies", '{"type":"http","host":"proxy.example","port":8080,"username":"u"}', ADMIN),
  send("POST", "/admin/login", '{"admin_key":"admin","expire_hours":5}'),
  send(
    "POST",
    "/admin/page-links",
    '{"key":"sk-test","path":"/v1/technologies/","query":"url=https://example.com","expires_in":60}',
    ADMIN,
  ),
  send("DELETE", "/admin/accounts/one%40test", "", ADMIN),
  get(
    "/admin/verify",
    "authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJwb2x5Z2F0ZSJ9.AAAA",
  ),
];

export const CALLERS_REQUESTS: readonly string[] = [
  get("/v1/models?limit=3&after_id=x&before_id=y", KEY),
  get("/v1/models/provider-v4-flash", "x-api-key: sk-test", "anthropic-version: 2023-06-01"),
  get("/v1beta/models?pageSize=2&pageToken=abc&key=sk-test"),
  get("/v1/files?limit=2&after=file-1&order=asc&purpose=assistants", KEY),
  get("/v1/files/file-1/content", KEY, "range: bytes=0-5"),
  get("/v1/responses/resp_1?stream=true&starting_after=3", KEY),
  get("/v1/responses/resp_1/input_items?limit=2&after=x&order=desc", KEY),
  get("/api/tags", KEY),
  get("/openapi.json"),
  get("/healthz"),
  send(
    "POST",
    "/v1/chat/completions",
    '{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"stream":true}',
    KEY,
    "x-gateway-source: test",
    "x-gateway-target-account: one@test",
    "x-request-id: abc",
  ),
  send(
    "POST",
    "/v1/messages",
    '{"model":"claude-opus-4","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}',
    "x-api-key: sk-test",
    "anthropic-beta: a,b",
  ),
  send(
    "POST",
    "/v1/messages/count_tokens",
    '{"model":"claude-opus-4","messages":[{"role":"user","content":"hi"}]}',
    "x-api-key: sk-test",
  ),
  send(
    "POST",
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    '{"contents":[{"parts":[{"text":"hi"}]}]}',
    "x-goog-api-key: sk-test",
  ),
  send(
    "POST",
    "/v1/embeddings",
    '{"model":"text-embedding-3-small","input":["a","b"],"dimensions":8,"encoding_format":"base64"}',
    KEY,
  ),
  send(
    "POST",
    "/v1/responses",
    '{"model":"gpt-4o","input":"hi","previous_response_id":"resp_1","store":true}',
    KEY,
  ),
  send("POST", "/v1/responses/compact", '{"model":"gpt-4o","input":[{"role":"user","content":"hi"}]}', KEY),
  send(
    "POST",
    "/v1/uploads",
    '{"filename":"a.txt","bytes":5,"purpose":"assistants","mime_type":"text/plain"}',
    KEY,
  ),
  send(
    "POST",
    "/upload/v1beta/files?uploadType=resumable",
    '{"file":{"displayName":"a"}}',
    "x-goog-api-key: sk-test",
    "x-goog-upload-protocol: resumable",
    "x-goog-upload-command: start",
    "x-goog-upload-header-content-length: 5",
  ),
  send(
    "PUT",
    "/upload/v1beta/files?upload_id=abc.def&name=x",
    "hello",
    "x-goog-upload-offset: 0",
    "x-goog-upload-command: upload, finalize",
    "content-range: bytes 0-4/5",
  ),
  send(
    "POST",
    "/api/chat",
    '{"model":"provider-v4-flash","messages":[{"role":"user","content":"hi"}],"stream":false}',
    KEY,
  ),
  send(
    "OPTIONS",
    "/v1/messages",
    "",
    "origin: https://x.example",
    "access-control-request-method: POST",
    "access-control-request-headers: x-api-key",
  ),
];

export const PAGE_REQUESTS: readonly string[] = [
  get("/v1/technologies/?url=https://example.com/&maxAge=60&staleFor=5&pretty=true&headers=true"),
  get("/v1/metadata/?url=https%3A%2F%2Fexample.com%2Fa&maxAge=0&categories=1,2"),
  get("/v1/thumbs/?url=https://example.com&width=320&height=200&format=webp&full=true&clip=0,0,10,10"),
  get("/v1/thumbs/?url=https://example.com&format=pdf&paper=a4&landscape=1&scale=2", 'if-none-match: "tag"'),
  get("/v1/technologies/?url=https://example.com/&keyId=key_1&expires=1800000000&signature=AAAA"),
  get(
    "/v1/metadata/?url=https://example.com",
    KEY,
    'if-none-match: W/"a", "b"',
    "accept-language: de,en;q=0.5",
  ),
  get("/v1/jobs/job_0123456789abcdef0123456789abcdef"),
  get("/v1/jobs/job_0123456789abcdef0123456789abcdef/tasks/0"),
  send(
    "POST",
    "/v1/jobs",
    '{"operation":"metadata","tasks":[{"url":"https://example.com"}],"urls":["https://example.com/b"],"parameters":{"maxAge":5}}',
  ),
  get("/v1/?x=1"),
];

/** A credential that no answer may show. */
export const ACCOUNT_KEY = "backend-key-of-the-account";

/** Answers of an upstream: `status part-of-the-path`, headers, body. */
const answer = (status: number, path: string, body: string, ...headers: string[]) =>
  [`${status} ${path}`, ...headers, "", body].join("\n");
const FAILURE = `{"error":{"message":"slow down, ${ACCOUNT_KEY}","code":"rate_limit_exceeded","type":"t","param":"p","status":"X"}}`;
const EVENTS = "content-type: text/event-stream";

export const UPSTREAM_ANSWERS: Readonly<Record<string, readonly string[]>> = {
  all: [
    answer(429, "", FAILURE, JSON_TYPE, "retry-after: 5", "x-ratelimit-reset-tokens: 1s"),
    answer(
      429,
      "",
      FAILURE,
      JSON_TYPE,
      "retry-after: Wed, 21 Oct 2026 07:28:00 GMT",
      "date: Wed, 21 Oct 2026 07:27:00 GMT",
    ),
    answer(503, "", "<html>Bad gateway</html>", "content-type: text/html", "retry-after: 1e308"),
    answer(400, "", '[{"error":{"message":"no","code":400,"status":"INVALID_ARGUMENT"}}]', JSON_TYPE),
    answer(302, "", "", "location: http://127.0.0.1/", 'link: </x>; rel="next"'),
    answer(200, "", "null", JSON_TYPE, "content-length: 4"),
    answer(204, "", ""),
  ],
  sessions: [
    answer(
      200,
      "/turns",
      'event: start\ndata: {"message_id":"m"}\n\nevent: text\ndata: {"text":"hi"}\n\nevent: usage\ndata: {"prompt_tokens":7,"completion_tokens":5}\n\nevent: finish\ndata: {"reason":"stop"}\n\n',
      EVENTS,
    ),
    answer(200, "/api/login", '{"token":"abc","expires_at":1800000000}', JSON_TYPE),
    answer(200, "/api/sessions", '{"id":"session-1"}', JSON_TYPE),
    answer(200, "/api/account", '{"id":"a","session_count":3}', JSON_TYPE),
  ],
  openai: [
    answer(
      200,
      "/chat/completions",
      '{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop","logprobs":{"content":[{"token":"hi","logprob":-1,"bytes":[104]}]}}],"usage":{"prompt_tokens":7,"completion_tokens":5}}',
      JSON_TYPE,
    ),
    answer(
      200,
      "/chat/completions",
      'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
      EVENTS,
    ),
    answer(200, "/models", '{"object":"list","data":[{"id":"m","created":1,"context_length":5}]}', JSON_TYPE),
    answer(
      200,
      "/embeddings",
      '{"data":[{"index":0,"embedding":[0.5,1e308]},{"index":1,"embedding":"AACAPw=="}],"usage":{"prompt_tokens":3}}',
      JSON_TYPE,
    ),
  ],
  "openai-responses": [
    answer(
      200,
      "/responses",
      '{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[{"type":"url_citation","url":"https://x","title":"t","start_index":0,"end_index":2}]}]}],"usage":{"input_tokens":7,"output_tokens":5}}',
      JSON_TYPE,
    ),
    answer(
      200,
      "/responses",
      'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}\n\n',
      EVENTS,
    ),
  ],
  anthropic: [
    answer(
      200,
      "/messages",
      '{"id":"msg","type":"message","role":"assistant","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":5,"cache_read_input_tokens":2}}',
      JSON_TYPE,
    ),
    answer(
      200,
      "/messages",
      'event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":7}}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
      EVENTS,
    ),
  ],
  gemini: [
    answer(
      200,
      "enerateContent",
      '{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"},{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP","groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://x","title":"t"}}],"groundingSupports":[{"segment":{"startIndex":0,"endIndex":2},"groundingChunkIndices":[0]}]}}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":5}}',
      JSON_TYPE,
    ),
    answer(
      200,
      "enerateContent",
      'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}\n\n',
      EVENTS,
    ),
    answer(200, "mbedContents", '{"embeddings":[{"values":[0.5,1]}]}', JSON_TYPE),
  ],
};

/** Messages over a WebSocket of the responses style. */
export const SOCKET_MESSAGES: readonly string[] = [
  '{"type":"response.create","model":"gpt-4o","input":"hi","stream_id":"lane-1"}',
  '{"type":"response.create","model":"gpt-4o","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}],"previous_response_id":"resp_1","store":false}',
  '{"type":"response.cancel"}',
  '{"type":"response.create","stream":false,"stream_options":{"include_usage":true},"generate":false}',
  "[]",
];
