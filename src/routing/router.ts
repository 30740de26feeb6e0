import { IttyRouter } from "itty-router";
import { GatewayError } from "../errors/gateway-error.ts";
import { maskedPath } from "../http/masked-path.ts";
import type { Method, Params } from "./endpoint.ts";
import {
  type AnySurface,
  isEarly,
  isLate,
  type LateSurface,
  loaded,
  mayLeadTo,
  type Route,
  routesOf,
} from "./surface.ts";

/** No route has a longer path, and no pattern is tried on one: on long runs of slashes that takes for ever. */
const MAX_PATH = 4096;

/** What a path and a method lead to. */
export interface Match {
  readonly route: Route;
  readonly params: Params;
}

/** The 404 of a path that no route has. */
export function routeNotFound(method: string, path: string): GatewayError {
  return new GatewayError(404, `no route for ${method} ${maskedPath(path)}`, { code: "not_found" });
}

/** A path segment as the client meant it; a broken escape is a 404, as no such thing exists. */
function decode(params: Params, method: string, path: string): Params {
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

/**
 * The parameters of a route with a verb: the last one ends in a colon and the verb, which is taken off. It is split at the
 * last colon, as names may hold colons themselves. Null when the path has another verb or none.
 */
function withoutVerb(params: Params, verb: string): Params | null {
  const [name, text] = Object.entries(params).at(-1) ?? ["", ""];
  // As with any path, a slash at its end says nothing.
  const value = text.endsWith("/") ? text.slice(0, -1) : text;
  const colon = value.lastIndexOf(":");
  if (colon < 0 || value.slice(colon + 1) !== verb) return null;
  return { ...params, [name]: value.slice(0, colon) };
}

/** Finds routes by path, then by method and verb, so that a wrong method is told from a wrong path. */
export class RouteTable {
  /** In order: of those that have a path the first may claim requests of it. */
  #surfaces: readonly AnySurface[];
  /** The routes of those that are there. */
  #byPath: ReadonlyMap<string, readonly Route[]> = new Map();
  /** Those that are not yet. */
  #late: readonly LateSurface[] = [];
  /** Of paths without parameters, where nothing that is loaded late may claim requests: what they lead to is found at once. */
  #settled: ReadonlyMap<string, readonly Route[]> = new Map();
  /** Tries every pattern; made for the first path that is none of them word for word. */
  #router: ReturnType<typeof IttyRouter> | undefined;

  constructor(surfaces: readonly AnySurface[]) {
    this.#surfaces = surfaces;
    this.#arrange();
  }

  #arrange(): void {
    this.#late = this.#surfaces.filter(isLate);
    this.#byPath = Map.groupBy(routesOf(this.#surfaces.filter(isEarly)), ({ path }) => path);
    this.#settled = new Map(
      [...this.#byPath].filter(
        ([path]) => !path.includes(":") && !this.#late.some((surface) => mayLeadTo(surface, path)),
      ),
    );
    this.#router = undefined;
  }

  /** Loads what a path may lead to. */
  async #load(path: string): Promise<void> {
    for (const surface of this.#late) {
      if (!mayLeadTo(surface, path)) continue;
      const whole = await loaded(surface);
      // Another request may have waited for it, too.
      if (!this.#surfaces.includes(surface)) continue;
      this.#surfaces = this.#surfaces.map((other) => (other === surface ? whole : other));
      this.#arrange();
    }
  }

  #patterns(): ReturnType<typeof IttyRouter> {
    if (this.#router !== undefined) return this.#router;
    this.#router = IttyRouter();
    for (const [path, choices] of this.#byPath) this.#router.all(path, ({ params }) => ({ choices, params }));
    return this.#router;
  }

  async #find(
    method: string,
    url: URL,
    path: string,
  ): Promise<{ choices: readonly Route[]; params: Params } | undefined> {
    await this.#load(path);
    const choices = path.includes(":") ? undefined : this.#byPath.get(path);
    if (choices !== undefined) return { choices, params: {} };
    return this.#patterns().fetch({ method, url: url.href });
  }

  /**
   * The route of a request, or null when no route has its path. `HEAD` is served by the `GET` route. Where several styles
   * have a path, the headers tell them apart. `path` is that of the address, for who has read it already.
   *
   * @throws GatewayError 405 with `Allow` for a known path with a wrong method, 404 for a broken escape in the path.
   */
  async match(method: string, url: URL, headers = new Headers(), path = url.pathname): Promise<Match | null> {
    if (path.length > MAX_PATH) return null;
    const settled = this.#settled.get(path);
    const found =
      settled === undefined ? await this.#find(method, url, path) : { choices: settled, params: {} };
    if (found === undefined) return null;
    const wanted = method === "HEAD" ? "GET" : method;
    const params = decode(found.params, method, path);
    // A path that ends in a verb is that verb's: it is no model's name for those without one.
    const verbal = found.choices.filter(
      ({ endpoint: { verb } }) => verb !== undefined && withoutVerb(params, verb) !== null,
    );
    const fitting = verbal.length === 0 ? found.choices : verbal;
    const choices = fitting.filter(({ endpoint }) => endpoint.method === wanted);
    if (choices.length === 0) throw methodNotAllowed(method, path, fitting);
    for (const route of choices) {
      const { verb, when } = route.endpoint;
      if (when?.({ headers, url }) === false) continue;
      const own = verb === undefined ? params : withoutVerb(params, verb);
      if (own !== null) return { route, params: own };
    }
    return null;
  }
}

function methodNotAllowed(method: string, path: string, choices: readonly Route[]): GatewayError {
  const allowed = choices.flatMap(({ endpoint }): (Method | "HEAD" | "OPTIONS")[] =>
    endpoint.method === "GET" ? ["GET", "HEAD"] : [endpoint.method],
  );
  return new GatewayError(405, `${method} is not allowed on ${maskedPath(path)}`, {
    code: "method_not_allowed",
    headers: { allow: [...new Set([...allowed, "OPTIONS"])].join(", ") },
  });
}
