import { maskSecrets } from "../encoding/mask.ts";
import type { Capture } from "../platform/captures.ts";
import type { Context } from "../platform/context.ts";
import type { Platform } from "../platform/platform.ts";
import type { Fetch, OutboundProxy } from "../platform/upstream.ts";
import type { ExchangeKind } from "../provider/driver.ts";
import { getDriver } from "../provider/drivers.ts";
import { readBounded } from "../provider/transport.ts";
import { truncateText } from "../storage/texts.ts";
import { seriesName } from "../telemetry/counts.ts";
import { UPSTREAM_REQUESTS } from "../telemetry/metric-names.ts";
import { getOutbox, type OutboxPlatform } from "../telemetry/outbox.ts";
import { collectSecrets, maskHeaders, maskText, maskUrl, type UpstreamRequest } from "./mask.ts";

/** How much of an error response is read, in bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** The part of a request's context that capturing needs. */
export type CaptureContext = Pick<Context, "config" | "requestId" | "log" | "waitUntil" | "onCapture"> & {
  readonly platform: OutboxPlatform &
    Pick<Platform, "upstreamFetch"> & { readonly variables: Pick<Platform["variables"], "providerDriver"> };
};

/** How to call a provider: its driver's protocol, with additional headers. */
export interface ProviderProtocol {
  readonly driver: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Adds headers to `init`. The protocol's own headers take precedence. */
function withHeaders(init: RequestInit | undefined, further: ProviderProtocol["headers"]): RequestInit {
  const headers = new Headers(further);
  new Headers(init?.headers).forEach((value, name) => {
    headers.set(name, value);
  });
  return { ...init, headers };
}

/**
 * Creates the `fetch` for a request to the upstream, through a proxy if one is given. It counts every exchange. It captures
 * an exchange while captures are on, or when the request asks for it (`context.onCapture`).
 */
export function createUpstreamFetch(
  context: CaptureContext,
  proxy: OutboundProxy | null,
  speech?: ProviderProtocol,
): Fetch {
  const fetch = context.platform.upstreamFetch(proxy);
  const { driver, headers } = speech ?? { driver: context.platform.variables.providerDriver, headers: {} };
  const plain = Object.keys(headers).length === 0;
  return async (url, asked) => {
    const init = plain ? asked : withHeaders(asked, headers);
    const { config } = await context.config();
    const wanted = config.captures.enabled || context.onCapture !== undefined;
    const spoken = () => describeRequest(url, init ?? {}, headers, proxy);
    const watch = wanted
      ? new CaptureRecorder(context, driver, init?.method, spoken(), config.captures.max_body_bytes)
      : null;
    const { label } = describeExchange(driver, url);
    const count = (status: string) =>
      getOutbox(context.platform).counts.add(seriesName(UPSTREAM_REQUESTS, { operation: label, status }));
    try {
      const response = await fetch(url, init);
      count(String(response.status));
      const answer = watch === null ? response : watch.recordResponse(response);
      return answer.status < 400 ? answer : maskErrorResponse(answer, spoken());
    } catch (error) {
      count(init?.signal?.aborted === true ? "cancelled" : "unreachable");
      watch?.end(init?.signal?.aborted === true ? "cancelled" : "error", error);
      throw error;
    }
  };
}

function describeRequest(
  url: string,
  init: RequestInit,
  configured: ProviderProtocol["headers"],
  proxy: OutboundProxy | null,
): UpstreamRequest {
  return {
    url,
    headers: new Headers(init.headers),
    configuredHeaders: configured,
    body: describeBody(init.body ?? null),
    proxy,
  };
}

/** The same response with another body. A status outside the valid range (for example 999) becomes 502. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  return new Response(body, { status: status > 599 ? 502 : status, statusText, headers });
}

/** Masks the request's secrets, including the proxy's, in an error response: callers may see its text. */
function maskErrorResponse(response: Response, spoken: UpstreamRequest): Response {
  const { body } = response;
  if (body === null) return response;
  const masked = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { text, whole } = await readBounded(response, MAX_REFUSAL_BYTES);
        controller.enqueue(new TextEncoder().encode(maskSecrets(text, collectSecrets(spoken), !whole)));
        controller.close();
      },
      cancel: (reason) => body.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return withBody(response, masked);
}

/** The last requested URL. Most backends use one URL for all requests, and parsing it takes longer than this lookup. */
let lastExchange: { readonly driver: string; readonly url: string; readonly kind: ExchangeKind } = {
  driver: "",
  url: "",
  kind: { label: "" },
};

/** The driver's description of an exchange. */
function describeExchange(driver: string, url: string): ExchangeKind {
  if (lastExchange.url !== url || lastExchange.driver !== driver) {
    lastExchange = { driver, url, kind: getDriver(driver).classifyExchange(new URL(url).pathname) };
  }
  return lastExchange.kind;
}

/** Captures one exchange. */
class CaptureRecorder {
  readonly #context: CaptureContext;
  readonly #driver: string;
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
    driver: string,
    method: string | undefined,
    spoken: UpstreamRequest,
    limit: number,
  ) {
    this.#context = context;
    this.#driver = driver;
    this.#request = spoken;
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
    return withBody(response, body);
  }

  #store(bytes: Uint8Array): void {
    this.#size += bytes.length;
    const room = this.#limit - this.#storedSize;
    if (room <= 0) return;
    const kept = bytes.slice(0, room);
    this.#pieces.push(kept);
    this.#storedSize += kept.length;
  }

  /** Stores the capture. Never throws: a capture must not break its exchange. */
  end(outcome: Capture["outcome"], error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    try {
      const capture = this.#buildCapture(outcome, error);
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
    const { requestId, log, platform } = this.#context;
    const { url, body, configuredHeaders } = this.#request;
    const secrets = collectSecrets(this.#request);
    const { label, round } = describeExchange(this.#driver, url);
    const headers = this.#response?.headers ?? new Headers();
    // A model's streamed text may contain members with such names. Any other body may be JSON, whatever its content type.
    const json = !/event-stream/i.test(headers.get("content-type") ?? "");
    const cut = this.#size > this.#storedSize;
    const message = error instanceof Error ? error.message : "";
    return {
      id: `cap_${crypto.randomUUID().replaceAll("-", "")}`,
      at: this.#startedAt,
      duration_ms: platform.now() - this.#startedAt,
      request_id: requestId,
      key: log.key ?? "",
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
      response_body: maskText(decode(this.#pieces), secrets, { mayBeJson: json, isCut: cut }),
      response_bytes: this.#size,
      truncated: cut || body.length > this.#limit,
    };
  }
}

function decode(pieces: readonly Uint8Array[]): string {
  const utf8 = new TextDecoder();
  return pieces.map((piece) => utf8.decode(piece, { stream: true })).join("") + utf8.decode();
}

function describeBody(body: BodyInit | null): string {
  if (body === null) return "";
  if (typeof body === "string") return body;
  // Uploaded files. Their headers describe them.
  return "[not captured]";
}
