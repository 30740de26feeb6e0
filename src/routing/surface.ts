import type { CredentialSource } from "../auth/callers.ts";
import type { JsonObject } from "../encoding/json.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LimitHeaders } from "./limit-headers.ts";

/** A family of routes: those that answer errors in one shape (contract, Errors). */
export interface RouteFamily {
  /** What its error is called in the OpenAPI document. */
  readonly id: string;
  /** The header in which its clients look for the request's id, besides `x-request-id`. */
  readonly requestIdHeader?: string;
  /** How its clients are told what is left to a key with limits; unless given as in the chat-completions style. */
  readonly limitHeaders?: LimitHeaders;
  /** The JSON body of an error; `requestId` is for those that tell it. */
  readonly formatError: (error: GatewayError, requestId?: string) => unknown;
  /** JSON schema of that body. */
  readonly errorSchema: JsonObject;
}

/** What the edge of the program must know about a surface, whatever its endpoints. */
export interface SurfaceEdge {
  /** What people call it: the tag of its endpoints in the OpenAPI document. */
  readonly tag: string;
  readonly family: RouteFamily;
  /**
   * The surface's own paths, also those that no endpoint has: a text that ends in `/` claims what begins with it, any other
   * that path and all below it. Of several claims on a path the longest counts. Browsers elsewhere may call them (contract,
   * general rule 4).
   */
  readonly paths: readonly string[];
  /** Further paths whose errors have the family's shape: patterns come before all claims. No CORS of their own. */
  readonly alsoOwns?: readonly (string | RegExp)[];
  /**
   * Pages of public sites have no business here: browsers are not asked to let them into a private network for it, and
   * where the development key, which everybody knows, lets administrators in, pages of other origins are refused.
   */
  readonly ownPagesOnly?: boolean;
  /** Where its clients put their key. */
  readonly credentials?: readonly CredentialSource[];
  /** Headers of its own that a browser may send without being asked for them. */
  readonly requestHeaders?: readonly string[];
  /** Headers of its own that scripts in a browser may read. */
  readonly responseHeaders?: readonly string[];
}

/**
 * Endpoints that belong together, and all that the edge of the program must know about them: a dialect, the rest of the
 * API, the page service, the administration. Listed once, in `src/routes.ts`; CORS, the shape of errors, the places where
 * a key may be and the OpenAPI document derive from that list.
 */
export interface Surface extends SurfaceEdge {
  readonly endpoints: readonly Endpoint[];
}

/**
 * A surface that most isolates never serve: its endpoints are loaded when a path that may be theirs is first asked for, so that
 * an isolate starts without their code (docs/performance.md).
 */
export interface LateSurface extends SurfaceEdge {
  /** Paths of its endpoints that it does not claim, word for word. */
  readonly otherPaths?: readonly string[];
  /** Claims of others on which it has endpoints, too, as in `paths`: the headers of a request tell whose it is. */
  readonly sharedPaths?: readonly string[];
  readonly load: () => Promise<readonly Endpoint[]>;
}

/** A surface that is there, or is loaded when it is needed. */
export type AnySurface = Surface | LateSurface;

/** Whether a surface is there, from the start or by now. */
export const isEarly = (surface: AnySurface): surface is Surface => "endpoints" in surface;

/** Whether a surface is still to be loaded. */
export const isLate = (surface: AnySurface): surface is LateSurface => !isEarly(surface);

/** A surface with its endpoints. */
export async function loaded(surface: AnySurface): Promise<Surface> {
  return isEarly(surface) ? surface : { ...surface, endpoints: await surface.load() };
}

/** Whether a path may lead to an endpoint of a surface that is loaded late. Slashes at the end of a path say nothing. */
export function mayLeadTo(surface: LateSurface, path: string): boolean {
  const { paths, sharedPaths = [], otherPaths = [] } = surface;
  if (paths.some((claim) => claims(claim, path)) || sharedPaths.some((claim) => claims(claim, path))) {
    return true;
  }
  return otherPaths.some((other) => path.startsWith(other) && /^\/*$/.test(path.slice(other.length)));
}

/** One path of one endpoint. */
export interface Route {
  /** Path pattern: `:name` is one segment, `:name+` the rest of the path. */
  readonly path: string;
  /** Those of the surface that it belongs to. */
  readonly family: RouteFamily;
  readonly tag: string;
  readonly endpoint: Endpoint;
}

/** The routes of some surfaces, in order. */
export function routesOf(surfaces: readonly Surface[]): Route[] {
  return surfaces.flatMap(({ family, tag, endpoints }) =>
    endpoints.flatMap((endpoint) => endpoint.paths.map((path) => ({ path, family, tag, endpoint }))),
  );
}

/** Whether a claim (see {@link Surface.paths}) covers a path. */
export function claims(claim: string, path: string): boolean {
  if (!path.startsWith(claim)) return false;
  return claim.endsWith("/") || path.length === claim.length || path.charAt(claim.length) === "/";
}

/** Tells the family of any path, for the shape of the error of one that has no route. */
export class PathFamilies {
  readonly #patterns: (readonly [RegExp, RouteFamily])[] = [];
  /** The longest claims first. */
  readonly #claims: (readonly [string, RouteFamily])[] = [];
  readonly #fallback: RouteFamily;

  /** `fallback` is the family of paths that nobody claims. */
  constructor(surfaces: readonly SurfaceEdge[], fallback: RouteFamily) {
    this.#fallback = fallback;
    for (const { family, paths, alsoOwns = [] } of surfaces) {
      for (const claim of [...paths, ...alsoOwns]) {
        if (typeof claim === "string") this.#claims.push([claim, family]);
        else this.#patterns.push([claim, family]);
      }
    }
    this.#claims.sort(([one], [other]) => other.length - one.length);
  }

  of(path: string): RouteFamily {
    const found =
      this.#patterns.find(([pattern]) => pattern.test(path)) ??
      this.#claims.find(([claim]) => claims(claim, path));
    return found?.[1] ?? this.#fallback;
  }
}
