import type { CredentialSource } from "../auth/callers.ts";
import type { JsonObject } from "../encoding/json.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LimitHeaders } from "./limit-headers.ts";

/** Routes whose errors have the same shape (docs/contract/errors.md). */
export interface RouteFamily {
  /** Name of its error in the OpenAPI document. */
  readonly id: string;
  /** The response header for the request id that its clients expect, besides `x-request-id`. */
  readonly requestIdHeader?: string;
  /** Formats a key's remaining limits as headers; defaults to those of the chat-completions style. */
  readonly limitHeaders?: LimitHeaders;
  /** Formats the JSON body of an error; `requestId` is for families that include it. */
  readonly formatError: (error: GatewayError, requestId?: string) => unknown;
  /** JSON schema of an error's body. */
  readonly errorSchema: JsonObject;
}

/** The properties of a route group that the HTTP layer needs before the endpoints are loaded. */
export interface RouteGroupMetadata {
  /** Name of the API style in logs, metrics, history and the scopes of keys. Absent: any key may use the endpoints. */
  readonly id?: string;
  /** Display name: the tag of its endpoints in the OpenAPI document. */
  readonly tag: string;
  readonly family: RouteFamily;
  /**
   * The paths that belong to the group, with or without an endpoint: a text that ends in `/` is a prefix, any other is that
   * path and all below it. The longest matching claim wins. Pages of other origins may call them (docs/contract.md,
   * general rule 4).
   */
  readonly paths: readonly string[];
  /**
   * Further paths whose errors have the family's shape; patterns are checked before all claims. CORS does not apply to them.
   */
  readonly extraErrorPaths?: readonly (string | RegExp)[];
  /**
   * Only for the program's own pages. Preflights do not allow public sites to access a private network here. While the
   * publicly known development key is valid for administrators, requests of other origins are refused.
   */
  readonly ownPagesOnly?: boolean;
  /** Where its clients send their key. */
  readonly credentials?: readonly CredentialSource[];
  /** Its own request headers that preflights always allow. */
  readonly requestHeaders?: readonly string[];
}

/**
 * Endpoints that belong together, with their metadata: a dialect, the rest of the API, the page service, the
 * administration. `src/routes.ts` lists all groups once. CORS, error shapes, credential sources and the OpenAPI document
 * derive from that list.
 */
export interface RouteGroup extends RouteGroupMetadata {
  readonly endpoints: readonly Endpoint[];
}

/**
 * A route group that most isolates never serve. Its endpoints are loaded with the first request for one of its paths, so
 * that an isolate starts without their code (bench/results/startup.md).
 */
export interface LazyRouteGroup extends RouteGroupMetadata {
  /** Exact paths of its endpoints outside `paths`. */
  readonly exactPaths?: readonly string[];
  /**
   * Claims of other groups, in the form of `paths`, on which it also has endpoints: the headers of a request select the
   * group.
   */
  readonly sharedPaths?: readonly string[];
  readonly load: () => Promise<readonly Endpoint[]>;
}

/** A route group, loaded or lazy. */
export type AnyRouteGroup = RouteGroup | LazyRouteGroup;

/** Whether a route group is loaded. */
export const isLoaded = (group: AnyRouteGroup): group is RouteGroup => "endpoints" in group;

/** Whether a route group is not loaded yet. */
export const isLazy = (group: AnyRouteGroup): group is LazyRouteGroup => !isLoaded(group);

/** Returns a route group with its endpoints; loads them if necessary. */
export async function loadRouteGroup(group: AnyRouteGroup): Promise<RouteGroup> {
  return isLoaded(group) ? group : { ...group, endpoints: await group.load() };
}

/** Whether a path may belong to an endpoint of a lazy route group. Trailing slashes are ignored. */
export function mayServePath(group: LazyRouteGroup, path: string): boolean {
  const { paths, sharedPaths = [], exactPaths = [] } = group;
  if (
    paths.some((claim) => claimCovers(claim, path)) ||
    sharedPaths.some((claim) => claimCovers(claim, path))
  ) {
    return true;
  }
  return exactPaths.some(
    (exactPath) => path.startsWith(exactPath) && /^\/*$/.test(path.slice(exactPath.length)),
  );
}

/** One path of one endpoint. */
export interface Route {
  /** Path pattern: `:name` is one segment, `:name+` the rest of the path. */
  readonly path: string;
  /** Id, family and tag of its route group. */
  readonly style: string | undefined;
  readonly family: RouteFamily;
  readonly tag: string;
  readonly endpoint: Endpoint;
}

/** The routes of some route groups, in order. */
export function listRoutes(groups: readonly RouteGroup[]): Route[] {
  return groups.flatMap(({ id: style, family, tag, endpoints }) =>
    endpoints.flatMap((endpoint) => endpoint.paths.map((path) => ({ path, style, family, tag, endpoint }))),
  );
}

/** Whether a claim (see {@link RouteGroupMetadata.paths}) covers a path. */
export function claimCovers(claim: string, path: string): boolean {
  if (!path.startsWith(claim)) return false;
  return claim.endsWith("/") || path.length === claim.length || path.charAt(claim.length) === "/";
}

/** Finds the family of any path, to format errors of paths without a route. */
export class PathFamilies {
  readonly #patterns: (readonly [RegExp, RouteFamily])[] = [];
  /** Longest claims first. */
  readonly #claims: (readonly [string, RouteFamily])[] = [];
  readonly #fallback: RouteFamily;

  /** @param fallback family of unclaimed paths */
  constructor(groups: readonly RouteGroupMetadata[], fallback: RouteFamily) {
    this.#fallback = fallback;
    for (const { family, paths, extraErrorPaths = [] } of groups) {
      for (const claim of [...paths, ...extraErrorPaths]) {
        if (typeof claim === "string") this.#claims.push([claim, family]);
        else this.#patterns.push([claim, family]);
      }
    }
    this.#claims.sort(([a], [b]) => b.length - a.length);
  }

  familyOf(path: string): RouteFamily {
    const found =
      this.#patterns.find(([pattern]) => pattern.test(path)) ??
      this.#claims.find(([claim]) => claimCovers(claim, path));
    return found?.[1] ?? this.#fallback;
  }
}
