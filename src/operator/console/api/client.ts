import { isDotSegment } from "../../../core/encoding/path-segment.ts";
import { reportReachable, reportUnreachable } from "../connection.ts";
import { currentToken, expireSession } from "../session.ts";
import { type AdminRoute, type AnswerOf, fillRoute, type RequestTo } from "./endpoints.ts";
import { texts } from "./texts.ts";

/** A failed request, with a message for the user. */
export class ApiError extends Error {
  /** HTTP status; 0 if the gateway is unreachable. */
  readonly status: number;
  /** The body that was sent. */
  readonly sent: unknown;

  constructor(status: number, message: string, sent?: unknown) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.sent = sent;
  }
}

/** Options of a request. */
export interface CallOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Entity tag of the configuration version, or of the entry, that the request is based on. */
  readonly ifMatch?: string | undefined;
}

/** Returns the message of an error body: `detail` of the admin API, `error.message` of the other APIs. */
export function errorMessage(body: unknown, status: number): string {
  if (typeof body === "object" && body !== null) {
    if ("detail" in body && typeof body.detail === "string") return body.detail;
    if ("error" in body) {
      const { error } = body;
      if (typeof error === "string") return error;
      if (typeof error === "object" && error !== null && "message" in error) return String(error.message);
    }
    if ("message" in body && typeof body.message === "string") return body.message;
  }
  return texts.gatewayAnsweredWithStatus(status);
}

/** Returns the message of any thrown value. */
export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Sends a request with the administrator's token. A 401 expires the session: the sign-in appears over the page, and its
 * input stays.
 *
 * @throws ApiError for every response that is not 2xx, if the gateway is unreachable, and for a path segment of dots alone.
 *   The browser would remove such a segment, and the path would address another resource.
 */
export async function sendRequest(path: string, options: CallOptions = {}): Promise<Response> {
  if ((path.split("?")[0] ?? "").split("/").some(isDotSegment)) {
    throw new ApiError(400, texts.uneditableNameHint);
  }
  const headers = new Headers({ accept: "application/json", authorization: `Bearer ${currentToken()}` });
  if (options.body !== undefined) headers.set("content-type", "application/json");
  if (options.ifMatch !== undefined) headers.set("if-match", options.ifMatch);
  let response: Response;
  try {
    response = await fetch(path, {
      method: options.method ?? "GET",
      headers,
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      ...(options.signal !== undefined && { signal: options.signal }),
    });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    reportUnreachable();
    throw new ApiError(0, texts.gatewayUnreachableHint);
  }
  reportReachable();
  if (response.ok) return response;
  if (response.status === 401) expireSession();
  throw new ApiError(response.status, errorMessage(await readJson(response), response.status), options.body);
}

/** Whether an edit failed because another one has changed the entry meanwhile. */
export function isEditConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 412;
}

/** An entry with its entity tag; undefined: it has none. */
export type Versioned<T> = T & { readonly tag: string | undefined };

async function readAnswer<Answer>(response: Response, more: object = {}): Promise<Answer> {
  try {
    // The console and the gateway that serves it are of the same version, so the answer has
    // the type that the server declares.
    return Object.assign(await response.json(), more);
  } catch {
    throw new ApiError(response.status, texts.unexpectedAnswer(new URL(response.url).pathname));
  }
}

/** Sends a request to an endpoint of the admin API, and returns the response. */
export function sendTo<Route extends AdminRoute>(
  route: Route,
  { params, query, ...options }: RequestTo<Route> = {},
): Promise<Response> {
  const { method, path } = fillRoute(route, params);
  const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
  return sendRequest(`${path}${search}`, { ...options, method });
}

/** Sends a request to an endpoint of the admin API, and returns its answer. */
export async function callApi<Route extends AdminRoute>(
  route: Route,
  request: RequestTo<Route> = {},
): Promise<AnswerOf<Route>> {
  return readAnswer(await sendTo(route, request));
}

/** Sends a request for an entry. Returns the entry with its entity tag. */
export async function callVersioned<Route extends AdminRoute>(
  route: Route,
  request: RequestTo<Route> = {},
): Promise<Versioned<AnswerOf<Route>>> {
  const response = await sendTo(route, request);
  return readAnswer(response, { tag: response.headers.get("etag") ?? undefined });
}
