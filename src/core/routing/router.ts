import { IttyRouter } from "itty-router";
import { GatewayError } from "../errors/gateway-error.ts";
import { maskPath } from "../http/path-masking.ts";
import type { Method, PathParams } from "./endpoint.ts";
import {
  type AnyRouteGroup,
  isLazy,
  isLoaded,
  type LazyRouteGroup,
  listRoutes,
  loadRouteGroup,
  mayServePath,
  type Route,
} from "./route-group.ts";

/** Longer paths match no route, and no pattern is tried on them: on long runs of slashes that takes extremely long. */
const MAX_PATH = 4096;

/** The route of a request, with its path parameters. */
export interface RouteMatch {
  readonly route: Route;
  readonly params: PathParams;
}

/** The 404 of a path without a route. */
export function routeNotFound(method: string, path: string): GatewayError {
  const hint = path.includes("/v1/v1/") ? ": the base address has one /v1 too many" : "";
  return new GatewayError(404, `no route for ${method} ${maskPath(path)}${hint}`, { code: "not_found" });
}

/** Percent-decodes path parameters. An invalid escape is a 404, because no such resource exists. */
function decodeParams(params: PathParams, method: string, path: string): PathParams {
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
 * Removes the verb from the last parameter of a route with a verb. Splits at the last colon, because names may contain
 * colons. Null if the path has another verb or none.
 */
function removeVerb(params: PathParams, verb: string): PathParams | null {
  const [name, text] = Object.entries(params).at(-1) ?? ["", ""];
  // A trailing slash is ignored, as in all paths.
  const value = text.endsWith("/") ? text.slice(0, -1) : text;
  const colon = value.lastIndexOf(":");
  if (colon < 0 || value.slice(colon + 1) !== verb) return null;
  return { ...params, [name]: value.slice(0, colon) };
}

/** Finds routes by path, then by method and verb, so that a wrong method gives another error than a wrong path. */
export class RouteTable {
  /** In order of precedence: of several route groups with a path, the first one wins. */
  #groups: readonly AnyRouteGroup[];
  /** The routes of the loaded groups, by path. */
  #byPath: ReadonlyMap<string, readonly Route[]> = new Map();
  /** The groups that are not loaded yet. */
  #lazyGroups: readonly LazyRouteGroup[] = [];
  /** Routes of paths without parameters that no lazy group can take: found with a single look-up. */
  #exactRoutes: ReadonlyMap<string, readonly Route[]> = new Map();
  /** Tries all patterns. Created for the first path without an exact match. */
  #router: ReturnType<typeof IttyRouter> | undefined;

  constructor(groups: readonly AnyRouteGroup[]) {
    this.#groups = groups;
    this.#rebuild();
  }

  #rebuild(): void {
    this.#lazyGroups = this.#groups.filter(isLazy);
    this.#byPath = Map.groupBy(listRoutes(this.#groups.filter(isLoaded)), ({ path }) => path);
    this.#exactRoutes = new Map(
      [...this.#byPath].filter(
        ([path]) => !path.includes(":") && !this.#lazyGroups.some((group) => mayServePath(group, path)),
      ),
    );
    this.#router = undefined;
  }

  /** Loads the groups that may serve a path. */
  async #loadGroups(path: string): Promise<void> {
    for (const lazyGroup of this.#lazyGroups) {
      if (!mayServePath(lazyGroup, path)) continue;
      const loaded = await loadRouteGroup(lazyGroup);
      // A concurrent request may have loaded it meanwhile.
      if (!this.#groups.includes(lazyGroup)) continue;
      this.#groups = this.#groups.map((group) => (group === lazyGroup ? loaded : group));
      this.#rebuild();
    }
  }

  #getPatternRouter(): ReturnType<typeof IttyRouter> {
    if (this.#router !== undefined) return this.#router;
    this.#router = IttyRouter();
    for (const [path, choices] of this.#byPath) this.#router.all(path, ({ params }) => ({ choices, params }));
    return this.#router;
  }

  async #findRoutes(
    method: string,
    url: URL,
    path: string,
  ): Promise<{ choices: readonly Route[]; params: PathParams } | undefined> {
    await this.#loadGroups(path);
    const choices = path.includes(":") ? undefined : this.#byPath.get(path);
    if (choices !== undefined) return { choices, params: {} };
    return this.#getPatternRouter().fetch({ method, url: url.href });
  }

  /**
   * The route of a request, or null if no route has its path. The `GET` route serves `HEAD`. Where several styles share a
   * path, the headers decide. `path` is the URL's path, for callers that have already read it.
   *
   * @throws GatewayError 405 with `Allow` for a known path with a wrong method, 404 for an invalid escape in the path.
   */
  async match(
    method: string,
    url: URL,
    headers = new Headers(),
    path = url.pathname,
  ): Promise<RouteMatch | null> {
    if (path.length > MAX_PATH) return null;
    const exact = this.#exactRoutes.get(path);
    const matched =
      exact === undefined ? await this.#findRoutes(method, url, path) : { choices: exact, params: {} };
    if (matched === undefined) return null;
    const routeMethod = method === "HEAD" ? "GET" : method;
    const params = decodeParams(matched.params, method, path);
    // If a path ends in a verb, only routes with that verb match: it is no model name for routes without one.
    const withVerb = matched.choices.filter(
      ({ endpoint: { verb } }) => verb !== undefined && removeVerb(params, verb) !== null,
    );
    const candidates = withVerb.length === 0 ? matched.choices : withVerb;
    const choices = candidates.filter(({ endpoint }) => endpoint.method === routeMethod);
    if (choices.length === 0) throw methodNotAllowed(method, path, candidates);
    for (const route of choices) {
      const { verb, when } = route.endpoint;
      if (when?.({ headers, url }) === false) continue;
      const routeParams = verb === undefined ? params : removeVerb(params, verb);
      if (routeParams !== null) return { route, params: routeParams };
    }
    return null;
  }
}

function methodNotAllowed(method: string, path: string, choices: readonly Route[]): GatewayError {
  const allowed = choices.flatMap(({ endpoint }): (Method | "HEAD" | "OPTIONS")[] =>
    endpoint.method === "GET" ? ["GET", "HEAD"] : [endpoint.method],
  );
  return new GatewayError(405, `${method} is not allowed on ${maskPath(path)}`, {
    code: "method_not_allowed",
    headers: { allow: [...new Set([...allowed, "OPTIONS"])].join(", ") },
  });
}
