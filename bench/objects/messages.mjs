// Messages of isolates, in the program's format.
import { readThumbnailRequest } from "../../src/pages/thumbnails/thumbnail-parameters.ts";

const words = (length, n) =>
  `${n} ${"All happy families are alike. ".repeat(Math.ceil(length / 30))}`.slice(0, length);

const idOf = (n, request) => `hist_${String(n).padStart(16, "0")}${String(request).padStart(16, "0")}`;

/** Summary of a request for lists. */
export function summary(n, request, status = "success") {
  const now = Date.now();
  return {
    id: idOf(n, request),
    created_at: now - 700,
    updated_at: now,
    completed_at: status === "success" ? now : 0,
    request_id: `req_${idOf(n, request)}`,
    key: `key_${request % 5}`,
    dialect: "chat-completions",
    requested_model: "gpt-4o",
    model: "provider-v4-flash",
    provider: "",
    account: "account@example.com",
    leased_at: now - 690,
    first_token_ms: 200,
    attempts: 1,
    tried: [],
    sign_ins: [],
    source: "",
    stream: true,
    thinking: false,
    status,
    status_code: status === "success" ? 200 : 0,
    error: "",
    finish_reason: status === "success" ? "stop" : "",
    prompt_tokens: 900,
    completion_tokens: 200,
    reasoning_tokens: 0,
    elapsed_ms: 700,
    request_preview: words(200, n),
    response_preview: words(200, n),
  };
}

/** Texts of a request: 2,000 characters of messages, the prompt built from them, and an answer of 1,000 characters. */
const asked = (n) => ({
  messages: JSON.stringify([{ role: "user", content: words(2_000, n) }]),
  prompt: words(2_000, n),
});
const begun = (n, request) => ({
  summary: summary(n, request, "streaming"),
  request: asked(n),
  reasoning: "",
  content: words(100, n),
});

const batch = (records, keep) => ({
  retention: { version: 1, records: keep, captures: 0 },
  records,
  captures: [],
  metrics: metrics(),
});

/** Metric deltas of requests. */
function metrics() {
  const series = {};
  for (const le of ["0.32", "0.64", "1.28", "+Inf"]) {
    series[`gen_ai_server_request_duration_seconds_bucket{gen_ai_operation_name="chat",le="${le}"}`] = 12;
    series[`gen_ai_server_time_to_first_token_seconds_bucket{gen_ai_operation_name="chat",le="${le}"}`] = 12;
    series[`gen_ai_client_token_usage_bucket{gen_ai_token_type="input",le="${le}"}`] = 12;
  }
  return { ...series, 'polygate_http_requests_total{route="/v1/chat/completions",status="200"}': 50 };
}

const each = (count, of) => Array.from({ length: count }, (_, request) => of(request));

/**
 * A history message of an isolate: `count` started requests, and `count` requests of the previous message that have ended.
 */
export function historyMessage(n, count, keep) {
  const over = each(count, (request) => ({
    summary: summary(n - 8, request),
    request: null,
    reasoning: "",
    content: words(1_000, n),
  }));
  return batch([...each(count, (request) => begun(n, request)), ...over], keep);
}

/** The same, with the texts of ended requests in a bucket. */
export function packedMessage(n, count, keep) {
  const records = each(count, (request) => ({
    summary: summary(n - 8, request),
    at: request * 5_000,
    bytes: 5_000,
  }));
  const pack = { key: `history/${String(n).padStart(15, "0")}-${crypto.randomUUID()}`, records };
  return [
    batch(
      each(count, (request) => begun(n, request)),
      keep,
    ),
    [pack],
  ];
}

/** A stored response: an answer of 2,000 characters and the conversation before it. */
export function response(n) {
  return {
    id: `resp_${n % 2_000}`,
    body: words(2_000, n),
    messages: [{ role: "user", parts: [{ type: "text", text: words(4_000, n) }] }],
    input: words(2_000, n),
    expiresAt: Date.now() + 900_000,
  };
}

/** Query of a screenshot that is returned as the browser encodes it. */
const pictureOf = (page) =>
  new URLSearchParams({ url: `https://example.com/${page}`, width: "1200", height: "1200", quality: "80" });

/** The same, as options for the object with the browser. */
export const captureOf = (page) => readThumbnailRequest(pictureOf(page), { privateHosts: [] }).options;

/** A job with `pages` pictures. `fault`: error of every picture. */
export function jobOf(n, pages, client, fault = null) {
  const tasks = each(pages, (page) => ({
    url: `https://example.com/${n}/${page}`,
    query: pictureOf(`${n}/${page}`).toString(),
    fault,
  }));
  return { client, operation: "thumbs", origin: "https://gateway.example.com", tasks };
}

/** An alert that was already delivered. */
export const alert = () => ({
  kind: "sync_failed",
  subject: "",
  message: "the hosting sync failed",
  value: 1,
  threshold: 0,
});
