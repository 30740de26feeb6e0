import { IttyRouter } from "itty-router";
import type { ZodType } from "zod";
import { GatewayError, type RouteFamily, routeNotFound } from "../errors/gateway-error.ts";
import { maskedPath } from "../http/masked-path.ts";
import type { Handler } from "../platform/context.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Who may call a route: anyone, a caller with a key or token, an administrator, or an administrator's JWT only. */
export type Access = "none" | "caller" | "admin" | "jwt";

/** No route has a longer path, and no pattern is tried on one: on long runs of slashes that takes for ever. */
const MAX_PATH = 4096;

/** One route of the API. */
export interface Route {
  readonly method: Method;
  /** Path pattern: `:name` is one segment, `:name+` the rest of the path. */
  readonly path: string;
  readonly family: RouteFamily;
  readonly access: Access;
  readonly handler: Handler;
  /** One line for people: the summary in the OpenAPI document. */
  readonly summary: string;
  /** What the handler checks the JSON body with, for the OpenAPI document. */
  readonly body?: ZodType;
  /** What the handler checks the query with, an object schema. */
  readonly query?: ZodType;
}

/** What a path and a method lead to. */
export interface Match {
  readonly route: Route;
  /** Percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** A path segment as the client meant it; a broken escape is a 404, as no such thing exists. */
function decode(params: Record<string, string>, method: string, path: string): Record<string, string> {
  const decoded: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    try {
      decoded[name] = decodeURIComponent(value);
    } catch {
      throw routeNotFound(method, path);
    }
  }
  return decoded;
}

/** Finds routes by path, then by method, so that a wrong method is told from a wrong path. */
export class RouteTable {
  readonly routes: readonly Route[];
  readonly #router = IttyRouter();
  /** Paths without parameters: they are found without trying every pattern. */
  readonly #literal = new Map<string, readonly Route[]>();

  constructor(routes: readonly Route[]) {
    this.routes = routes;
    const byPath = new Map<string, Route[]>();
    for (const route of routes) {
      const same = byPath.get(route.path);
      if (same === undefined) byPath.set(route.path, [route]);
      else same.push(route);
    }
    for (const [path, choices] of byPath) {
      if (!path.includes(":")) this.#literal.set(path, choices);
      this.#router.all(path, ({ params }) => ({ choices, params }));
    }
  }

  async #find(
    method: string,
    url: URL,
  ): Promise<{ choices: readonly Route[]; params: Record<string, string> } | undefined> {
    const choices = this.#literal.get(url.pathname);
    if (choices !== undefined) return { choices, params: {} };
    return this.#router.fetch({ method, url: url.href });
  }

  /**
   * The route of a request, or null when no route has its path. `HEAD` is served by the `GET` route.
   *
   * @throws GatewayError 405 with `Allow` for a known path with a wrong method, 404 for a broken escape in the path.
   */
  async match(method: string, url: URL): Promise<Match | null> {
    if (url.pathname.length > MAX_PATH) return null;
    const found = await this.#find(method, url);
    if (found === undefined) return null;
    const wanted = method === "HEAD" ? "GET" : method;
    const route = found.choices.find((choice) => choice.method === wanted);
    if (route !== undefined) return { route, params: decode(found.params, method, url.pathname) };
    const allowed = found.choices.flatMap((choice) =>
      choice.method === "GET" ? ["GET", "HEAD"] : [choice.method],
    );
    throw new GatewayError(405, `${method} is not allowed on ${maskedPath(url.pathname)}`, {
      code: "method_not_allowed",
      headers: { allow: [...new Set(allowed), "OPTIONS"].join(", ") },
    });
  }
}

/** The route family of a path that has no route, for the shape of its error. */
export function familyOfPath(path: string): RouteFamily {
  if (path === "/admin" || path.startsWith("/admin/")) return "admin";
  if (path.startsWith("/v1beta/")) return "content";
  if (path.startsWith("/v1/models/") && /:[a-zA-Z]+\/?$/.test(path)) return "content";
  if (/^(?:\/vendorb|\/anthropic)\/|^(?:\/v1)?\/messages(?:\/|$)/.test(path)) return "messages";
  if (path.startsWith("/api/")) return "runner";
  if (/^\/v1\/(?:thumbs|technologies)(?:\/|$)/.test(path)) return "page";
  return "chat";
}
