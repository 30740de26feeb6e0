import { maskSecrets } from "../../core/encoding/secret-masking.ts";
import type { Context } from "../../core/ports/context.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { Fetch, OutboundProxy } from "../../core/ports/upstream.ts";
import { formatSeriesName } from "../../records/telemetry/counts.ts";
import { UPSTREAM_REQUESTS } from "../../records/telemetry/metric-names.ts";
import { getOutbox } from "../../records/telemetry/outbox.ts";
import { collectSecrets, type UpstreamRequest } from "../captures/capture-masking.ts";
import type { CaptureContext } from "../captures/capture-recorder.ts";
import type { ExchangeKind } from "../providers/driver.ts";
import { getDriver } from "../providers/drivers.ts";
import { readBounded, replaceBody } from "../providers/transport.ts";

/** How much of an error response is read, in bytes. */
const MAX_ERROR_BYTES = 64 * 1024;

/** The part of a request's context that requests to the upstream need. */
export type UpstreamContext = CaptureContext &
  Pick<Context, "config"> & {
    readonly platform: Pick<Platform, "upstreamFetch"> & {
      readonly variables: Pick<Platform["variables"], "providerDriver">;
    };
  };

/** How to call a provider: its driver's protocol, with additions. */
export interface ProviderProtocol {
  readonly driver: string;
  readonly headers: Readonly<Record<string, string>>;
  /** See `RegisteredProvider`. */
  readonly apiVersion?: string;
  readonly keyHeader?: string;
}

/** Names of headers whose values add up: lists of features to switch on. */
const FEATURE_LIST = /-beta$/;

/** Adds headers to `init`. The protocol's own headers take precedence; lists of features are joined. */
function withHeaders(
  init: RequestInit | undefined,
  providerHeaders: ProviderProtocol["headers"],
): RequestInit {
  const headers = new Headers(providerHeaders);
  new Headers(init?.headers).forEach((value, name) => {
    if (FEATURE_LIST.test(name)) headers.append(name, value);
    else headers.set(name, value);
  });
  return { ...init, headers };
}

function withApiVersion(address: string, apiVersion: string): string {
  const url = new URL(address);
  url.searchParams.set("api-version", apiVersion);
  return url.href;
}

/** The configured headers, and the one that carries the key: its name may not show that it is a secret. */
function withKeyHeader(
  configured: ProviderProtocol["headers"],
  keyHeader: string,
  init: RequestInit | undefined,
): ProviderProtocol["headers"] {
  const key = keyHeader === "" ? null : new Headers(init?.headers).get(keyHeader);
  return key === null ? configured : { ...configured, [keyHeader]: key };
}

/**
 * Creates the `fetch` for a request to the upstream, through a proxy if one is given. It counts every exchange. It captures
 * an exchange while captures are on, or when the request asks for it (`context.onCapture`).
 *
 * @param onResponse called with the headers of each answer
 */
export function createUpstreamFetch(
  context: UpstreamContext,
  proxy: OutboundProxy | null,
  protocol?: ProviderProtocol,
  onResponse?: (headers: Headers) => void,
): Fetch {
  const fetch = context.platform.upstreamFetch(proxy);
  const defaultProtocol: ProviderProtocol = {
    driver: context.platform.variables.providerDriver,
    headers: {},
  };
  const { driver, headers, apiVersion = "", keyHeader = "" } = protocol ?? defaultProtocol;
  const plain = Object.keys(headers).length === 0;
  return async (address, requestInit) => {
    const url = apiVersion === "" ? address : withApiVersion(address, apiVersion);
    const init = plain ? requestInit : withHeaders(requestInit, headers);
    const { config } = await context.config();
    const isKept = config.captures.enabled && context.facts.history !== "none";
    const isCaptured = isKept || context.onCapture !== undefined;
    const request = () => describeRequest(url, init ?? {}, withKeyHeader(headers, keyHeader, init), proxy);
    const exchange = describeExchange(driver, url);
    const recorder = isCaptured
      ? new (await import("../captures/capture-recorder.ts")).CaptureRecorder(
          context,
          exchange,
          init?.method,
          request(),
          config.captures.max_body_bytes,
        )
      : null;
    const { label } = exchange;
    const count = (status: string) =>
      getOutbox(context.platform).counts.add(
        formatSeriesName(UPSTREAM_REQUESTS, { operation: label, status }),
      );
    try {
      const response = await fetch(url, init);
      count(String(response.status));
      onResponse?.(response.headers);
      const answer = recorder === null ? response : recorder.recordResponse(response);
      return answer.status < 400 ? answer : maskErrorResponse(answer, request());
    } catch (error) {
      count(init?.signal?.aborted === true ? "cancelled" : "unreachable");
      recorder?.end(init?.signal?.aborted === true ? "cancelled" : "error", error);
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

/** Masks the request's secrets, including the proxy's, in an error response: callers may see its text. */
function maskErrorResponse(response: Response, request: UpstreamRequest): Response {
  const { body } = response;
  if (body === null) return response;
  const masked = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { text, whole } = await readBounded(response, MAX_ERROR_BYTES);
        controller.enqueue(new TextEncoder().encode(maskSecrets(text, collectSecrets(request), !whole)));
        controller.close();
      },
      cancel: (reason) => body.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return replaceBody(response, masked);
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

function describeBody(body: BodyInit | null): string {
  if (body === null) return "";
  if (typeof body === "string") return body;
  // Uploaded files. Their headers describe them.
  return "[not captured]";
}
