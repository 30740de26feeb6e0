import { findPathAlias } from "./path-aliases.ts";

/** Properties of a request, read once, because each access to a native object costs time. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

/** The parsed address of a request. */
export interface RequestAddress {
  readonly text: string;
  /** Addresses of other vendors' clients are replaced by the gateway's own. */
  readonly url: URL;
  readonly path: string;
  /** The path that the client sent. */
  readonly requestedPath: string;
  /** The model that the path names. */
  readonly pathModel?: string;
}

/** The last request URL: most requests use the same. */
let lastUrl: RequestAddress | undefined;

/** Parses a request's URL. Several requests share the result, so it must not be modified. */
export function parseRequestUrl(text: string): RequestAddress {
  if (lastUrl?.text === text) return lastUrl;
  const url = new URL(text);
  const requestedPath = url.pathname;
  const alias = findPathAlias(requestedPath);
  if (alias !== null) url.pathname = alias.path;
  const pathModel = alias?.model;
  lastUrl = {
    text,
    url,
    path: url.pathname,
    requestedPath,
    ...(pathModel === undefined ? {} : { pathModel }),
  };
  return lastUrl;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Valid values of `Host`: a name or an address, and a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** The last valid value: most requests send the same. */
let lastValidHost = "";

/**
 * Whether the `Host` header is valid. Runtimes build the request's URL from it without checking: a slash in the host would
 * change the path.
 */
export function hasValidHost(headers: Headers): boolean {
  const host = headers.get("host");
  if (host === null || host === lastValidHost) return true;
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
  lastValidHost = host;
  return true;
}

/** The request id, which the caller may set, and an id that is unique. */
export function createRequestIds(headers: Headers): { requestId: string; uniqueRequestId: string } {
  const requested = headers.get("x-request-id");
  const uniqueRequestId = `req_${crypto.randomUUID().replaceAll("-", "")}`;
  return {
    requestId: requested !== null && REQUEST_ID.test(requested) ? requested : uniqueRequestId,
    uniqueRequestId,
  };
}
