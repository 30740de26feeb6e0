import type { HistoryMode } from "../../core/config/history-mode.ts";
import { redactText } from "../../core/encoding/redaction.ts";
import { truncateText } from "../../core/encoding/text-slices.ts";
import type { Capture } from "../../core/ports/captures.ts";
import type { Context } from "../../core/ports/context.ts";
import { getOutbox, type OutboxPlatform } from "../../records/telemetry/outbox.ts";
import type { ExchangeKind } from "../providers/driver.ts";
import { replaceBody } from "../providers/transport.ts";
import { collectSecrets, maskHeaders, maskText, maskUrl, type UpstreamRequest } from "./capture-masking.ts";

/** The part of a request's context that capturing needs. */
export type CaptureContext = Pick<Context, "requestId" | "facts" | "waitUntil" | "onCapture"> & {
  readonly platform: OutboxPlatform;
};

/** Captures one exchange with the upstream. */
export class CaptureRecorder {
  readonly #context: CaptureContext;
  readonly #exchange: ExchangeKind;
  readonly #request: UpstreamRequest;
  readonly #method: string;
  readonly #limit: number;
  readonly #startedAt: number;
  readonly #pieces: Uint8Array[] = [];
  #storedSize = 0;
  #size = 0;
  #response: Response | null = null;
  #ended = false;

  constructor(
    context: CaptureContext,
    exchange: ExchangeKind,
    method: string | undefined,
    request: UpstreamRequest,
    limit: number,
  ) {
    this.#context = context;
    this.#exchange = exchange;
    this.#request = request;
    this.#method = method ?? "GET";
    this.#limit = limit;
    this.#startedAt = context.platform.now();
  }

  /** Returns the same response, and captures the bytes that are read from it. */
  recordResponse(response: Response): Response {
    this.#response = response;
    if (response.body === null) {
      this.end("complete");
      return response;
    }
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (done) {
              this.end("complete");
              controller.close();
              return;
            }
            this.#store(value);
            controller.enqueue(value);
          } catch (error) {
            this.end("error", error);
            controller.error(error);
          }
        },
        cancel: async (reason) => {
          // A reader that cancels without a reason has read all it needs.
          this.end(reason === undefined ? "complete" : "cancelled");
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return replaceBody(response, body);
  }

  #store(bytes: Uint8Array): void {
    this.#size += bytes.length;
    const remaining = this.#limit - this.#storedSize;
    if (remaining <= 0) return;
    const stored = bytes.slice(0, remaining);
    this.#pieces.push(stored);
    this.#storedSize += stored.length;
  }

  /** Stores the capture. Never throws: a capture must not break its exchange. */
  end(outcome: Capture["outcome"], error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    try {
      const capture = withoutPrivateTexts(this.#buildCapture(outcome, error), this.#context.facts.history);
      const outbox = getOutbox(this.#context.platform);
      outbox.capture(capture);
      const sent = outbox.waitUntilSent();
      if (sent !== null) this.#context.waitUntil(sent);
      this.#context.onCapture?.(capture);
    } catch {
      // If building the capture fails, the exchange is not captured.
    }
  }

  #buildCapture(outcome: Capture["outcome"], error: unknown): Capture {
    const { requestId, facts, platform } = this.#context;
    const { url, body, configuredHeaders } = this.#request;
    const secrets = collectSecrets(this.#request);
    const { label, round } = this.#exchange;
    const headers = this.#response?.headers ?? new Headers();
    // A model's streamed text may contain members with such names.
    // Any other body may be JSON, even if its content type says otherwise.
    const json = !/event-stream/i.test(headers.get("content-type") ?? "");
    const isCut = this.#size > this.#storedSize;
    const message = error instanceof Error ? error.message : "";
    return {
      id: `cap_${crypto.randomUUID().replaceAll("-", "")}`,
      at: this.#startedAt,
      duration_ms: platform.now() - this.#startedAt,
      request_id: requestId,
      key: facts.key ?? "",
      // Without chat sessions, each request is a chain of its own.
      chain_key: round === undefined ? "" : (round.session ?? requestId),
      label,
      method: this.#method,
      url: maskUrl(url, secrets),
      status: this.#response?.status ?? 0,
      outcome,
      error: maskText(message, secrets, { mayBeJson: false, isCut: false }).slice(0, 500),
      request_headers: maskHeaders(this.#request.headers, secrets, configuredHeaders),
      request_body: truncateText(maskText(body, secrets, { mayBeJson: true, isCut: false }), this.#limit),
      response_headers: maskHeaders(headers, secrets, configuredHeaders),
      response_body: maskText(decode(this.#pieces), secrets, { mayBeJson: json, isCut }),
      response_bytes: this.#size,
      truncated: isCut || body.length > this.#limit,
    };
  }
}

/** Stands for a body that the history mode of a key or team does not keep. */
const NOT_KEPT = "[not kept: the history mode of the key or its team]";

/** Removes what the history mode does not allow to keep. */
function withoutPrivateTexts(capture: Capture, mode: HistoryMode | undefined): Capture {
  if (mode === undefined || mode === "full") return capture;
  const isStream = /event-stream/i.test(capture.response_headers["content-type"] ?? "");
  const keep = (text: string, isKept: boolean) =>
    text === "" || !isKept ? text && NOT_KEPT : redactText(text);
  return {
    ...capture,
    error: mode === "redacted" ? redactText(capture.error) : "",
    request_body: keep(capture.request_body, mode === "redacted"),
    // The pieces of a stream cut addresses and numbers, so that nothing could be recognised.
    response_body: keep(capture.response_body, mode === "redacted" && !isStream),
  };
}

function decode(pieces: readonly Uint8Array[]): string {
  const utf8 = new TextDecoder();
  return pieces.map((piece) => utf8.decode(piece, { stream: true })).join("") + utf8.decode();
}
