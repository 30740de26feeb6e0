import { withoutSecrets } from "../encoding/mask.ts";
import type { Capture } from "../platform/captures.ts";
import type { Context } from "../platform/context.ts";
import type { Platform } from "../platform/platform.ts";
import type { Fetch, OutboundProxy } from "../platform/upstream.ts";
import type { ExchangeKind } from "../provider/driver.ts";
import { getDriver } from "../provider/drivers.ts";
import { readBounded } from "../provider/transport.ts";
import { cutText } from "../storage/texts.ts";
import { series } from "../telemetry/counts.ts";
import { UPSTREAM_REQUESTS } from "../telemetry/metric-names.ts";
import { type OutboxPlatform, outboxOf } from "../telemetry/outbox.ts";
import { maskHeaders, maskText, maskUrl, type Spoken, secretsOf } from "./mask.ts";

/** How much of an error response is read, in bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** The part of a request's context that capturing needs. */
export type WatchedContext = Pick<Context, "config" | "requestId" | "log" | "waitUntil" | "onCapture"> & {
  readonly platform: OutboxPlatform &
    Pick<Platform, "upstream"> & { readonly variables: Pick<Platform["variables"], "providerDriver"> };
};

/** How to call a provider: its driver's protocol, with additional headers. */
export interface Speech {
  readonly driver: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Adds headers to `init`. The protocol's own headers take precedence. */
function withHeaders(init: RequestInit | undefined, further: Speech["headers"]): RequestInit {
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
export function upstreamOf(context: WatchedContext, proxy: OutboundProxy | null, speech?: Speech): Fetch {
  const fetch = context.platform.upstream(proxy);
  const { driver, headers } = speech ?? { driver: context.platform.variables.providerDriver, headers: {} };
  const plain = Object.keys(headers).length === 0;
  return async (url, asked) => {
    const init = plain ? asked : withHeaders(asked, headers);
    const { config } = await context.config();
    const wanted = config.captures.enabled || context.onCapture !== undefined;
    const spoken = () => spokenOf(url, init ?? {}, headers, proxy);
    const watch = wanted
      ? new Watch(context, driver, init?.method, spoken(), config.captures.max_body_bytes)
      : null;
    const { label } = exchangeOf(driver, url);
    const count = (status: string) =>
      outboxOf(context.platform).counts.add(series(UPSTREAM_REQUESTS, { operation: label, status }));
    try {
      const response = await fetch(url, init);
      count(String(response.status));
      const answer = watch === null ? response : watch.observe(response);
      return answer.status < 400 ? answer : refusalWithoutSecrets(answer, spoken());
    } catch (error) {
      count(init?.signal?.aborted === true ? "cancelled" : "unreachable");
      watch?.end(init?.signal?.aborted === true ? "cancelled" : "error", error);
      throw error;
    }
  };
}

function spokenOf(
  url: string,
  init: RequestInit,
  configured: Speech["headers"],
  proxy: OutboundProxy | null,
): Spoken {
  return { url, headers: new Headers(init.headers), configured, body: bodyText(init.body ?? null), proxy };
}

/** The same response with another body. A status outside the valid range (for example 999) becomes 502. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  return new Response(body, { status: status > 599 ? 502 : status, statusText, headers });
}

/** Masks the request's secrets, including the proxy's, in an error response: callers may see its text. */
function refusalWithoutSecrets(response: Response, spoken: Spoken): Response {
  const { body } = response;
  if (body === null) return response;
  const masked = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { text, whole } = await readBounded(response, MAX_REFUSAL_BYTES);
        controller.enqueue(new TextEncoder().encode(withoutSecrets(text, secretsOf(spoken), !whole)));
        controller.close();
      },
      cancel: (reason) => body.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return withBody(response, masked);
}

/** The last requested URL. Most backends use one URL for all requests, and parsing it takes longer than this lookup. */
let latest: { readonly driver: string; readonly url: string; readonly kind: ExchangeKind } = {
  driver: "",
  url: "",
  kind: { label: "" },
};

/** The driver's description of an exchange. */
function exchangeOf(driver: string, url: string): ExchangeKind {
  if (latest.url !== url || latest.driver !== driver) {
    latest = { driver, url, kind: getDriver(driver).exchange(new URL(url).pathname) };
  }
  return latest.kind;
}

/** Captures one exchange. */
class Watch {
  readonly #context: WatchedContext;
  readonly #driver: string;
  readonly #spoken: Spoken;
  readonly #method: string;
  readonly #limit: number;
  readonly #startedAt: number;
  readonly #pieces: Uint8Array[] = [];
  #kept = 0;
  #size = 0;
  #response: Response | null = null;
  #ended = false;

  constructor(
    context: WatchedContext,
    driver: string,
    method: string | undefined,
    spoken: Spoken,
    limit: number,
  ) {
    this.#context = context;
    this.#driver = driver;
    this.#spoken = spoken;
    this.#method = method ?? "GET";
    this.#limit = limit;
    this.#startedAt = context.platform.now();
  }

  /** Returns the same response, and captures the bytes that are read from it. */
  observe(response: Response): Response {
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
            this.#keep(value);
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

  #keep(bytes: Uint8Array): void {
    this.#size += bytes.length;
    const room = this.#limit - this.#kept;
    if (room <= 0) return;
    const kept = bytes.slice(0, room);
    this.#pieces.push(kept);
    this.#kept += kept.length;
  }

  /** Stores the capture. Never throws: a capture must not break its exchange. */
  end(outcome: Capture["outcome"], error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    try {
      const capture = this.#capture(outcome, error);
      const outbox = outboxOf(this.#context.platform);
      outbox.capture(capture);
      const sent = outbox.settled();
      if (sent !== null) this.#context.waitUntil(sent);
      this.#context.onCapture?.(capture);
    } catch {
      // If building the capture fails, the exchange is not captured.
    }
  }

  #capture(outcome: Capture["outcome"], error: unknown): Capture {
    const { requestId, log, platform } = this.#context;
    const { url, body, configured } = this.#spoken;
    const secrets = secretsOf(this.#spoken);
    const { label, round } = exchangeOf(this.#driver, url);
    const headers = this.#response?.headers ?? new Headers();
    // A model's streamed text may contain members with such names. Any other body may be JSON, whatever its content type.
    const json = !/event-stream/i.test(headers.get("content-type") ?? "");
    const cut = this.#size > this.#kept;
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
      error: maskText(message, secrets, { json: false, cut: false }).slice(0, 500),
      request_headers: maskHeaders(this.#spoken.headers, secrets, configured),
      request_body: cutText(maskText(body, secrets, { json: true, cut: false }), this.#limit),
      response_headers: maskHeaders(headers, secrets, configured),
      response_body: maskText(decode(this.#pieces), secrets, { json, cut }),
      response_bytes: this.#size,
      truncated: cut || body.length > this.#limit,
    };
  }
}

function decode(pieces: readonly Uint8Array[]): string {
  const utf8 = new TextDecoder();
  return pieces.map((piece) => utf8.decode(piece, { stream: true })).join("") + utf8.decode();
}

function bodyText(body: BodyInit | null): string {
  if (body === null) return "";
  if (typeof body === "string") return body;
  // Uploaded files. Their headers describe them.
  return "[not captured]";
}
