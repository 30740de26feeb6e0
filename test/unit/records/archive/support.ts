import type { ArchiveBatch, HistorySummary, HistoryWrite } from "../../../../src/core/ports/archive.ts";
import type { Capture } from "../../../../src/core/ports/captures.ts";
import { NO_USAGE_DETAILS } from "../../../../src/core/ports/usage.ts";

/** A record that is being written, with everything that a test does not care about. */
export function write(
  id: string,
  fields: Partial<HistorySummary> = {},
  texts: Partial<Omit<HistoryWrite, "summary">> = {},
): HistoryWrite {
  return {
    summary: {
      id,
      created_at: 1_000,
      updated_at: 1_000,
      completed_at: 0,
      request_id: `req_${id}`,
      key: "",
      dialect: "chat-completions",
      requested_model: "gpt-4o",
      model: "provider-v4-flash",
      provider: "",
      account: "one@sandbox.test",
      leased_at: 0,
      first_token_ms: 0,
      attempts: 1,
      tried: [],
      sign_ins: [],
      source: "",
      stream: false,
      thinking: false,
      status: "success",
      status_code: 200,
      error: "",
      finish_reason: "stop",
      prompt_tokens: 0,
      completion_tokens: 0,
      reasoning_tokens: 0,
      ...NO_USAGE_DETAILS,
      elapsed_ms: 0,
      request_preview: "",
      response_preview: "",
      ...fields,
    },
    request: { messages: "[]", prompt: "prompt", options: "" },
    reasoning: "",
    content: "",
    ...texts,
  };
}

/** A captured exchange, with everything that a test does not care about. */
export function capture(id: string, fields: Partial<Capture> = {}): Capture {
  return {
    id,
    at: 0,
    duration_ms: 1,
    request_id: "req",
    key: "",
    chain_key: "",
    label: "completion",
    method: "POST",
    url: "https://upstream.test/",
    status: 200,
    outcome: "complete",
    error: "",
    request_headers: {},
    request_body: "",
    response_headers: { "content-type": "text/event-stream" },
    response_body: "",
    response_bytes: 0,
    truncated: false,
    ...fields,
  };
}

/** A message of an isolate, with a retention of 10 records and 5 captures unless told otherwise. */
export function batch(fields: Partial<ArchiveBatch>): ArchiveBatch {
  return {
    retention: { version: 1, records: 10, captures: 5 },
    records: [],
    captures: [],
    metrics: {},
    ...fields,
  };
}
