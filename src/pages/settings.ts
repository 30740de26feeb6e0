import type { Settings } from "../platform/variables.ts";
import { parsePrivateHosts } from "../url-safety/index.ts";

/** Limits of the page service; the defaults suit a paid plan of the platform with its 128 MB for an isolate. */
export interface PageLimits {
  /** `BROWSER_COUNT`: browsers that run at one moment, each in an object of its own. */
  readonly browsers: number;
  /** `BROWSER_MAX_TABS`: pages open at one moment in one browser. */
  readonly tabs: number;
  /** `BROWSER_QUEUE_LIMIT`: requests that wait for a tab of one browser. */
  readonly queue: number;
  /** `BROWSER_QUEUE_TIMEOUT_MS`: how long a request waits for a tab. */
  readonly queueMs: number;
  /** `BROWSER_KEEP_ALIVE_MS`: how long an idle browser is kept; the platform allows at most ten minutes. */
  readonly keepAliveMs: number;
  /** `PAGE_NAVIGATION_TIMEOUT_MS`: how long a page may load before it is taken as it is. */
  readonly navigationMs: number;
  /** `PAGE_TOTAL_TIMEOUT_MS`: how long everything in one tab may take, the caller's own delay not counted. */
  readonly totalMs: number;
  /** `PAGE_MAX_REQUESTS`: requests that one page may make. */
  readonly requests: number;
  /** `PAGE_MAX_BYTES`: bytes that one page may load. */
  readonly bytes: number;
  /** `PAGE_MAX_HEIGHT`: CSS pixels of a page that a full capture shows. */
  readonly pageHeight: number;
  /** Private hosts that pages may be loaded from (`PAGE_PRIVATE_HOSTS`). */
  readonly privateHosts: ReadonlySet<string>;
}

/** Reads the limits from the deployment's variables. */
export function pageLimits({ browserMaxTabs, variables }: Settings): PageLimits {
  const number = (name: string, fallback: number): number => {
    const value = Number(variables[name]);
    return Number.isFinite(value) && value > 0 ? Math.floor(value) : fallback;
  };
  return {
    browsers: number("BROWSER_COUNT", 1),
    tabs: Math.max(1, Math.floor(browserMaxTabs)),
    queue: number("BROWSER_QUEUE_LIMIT", 50),
    queueMs: number("BROWSER_QUEUE_TIMEOUT_MS", 30_000),
    keepAliveMs: Math.min(number("BROWSER_KEEP_ALIVE_MS", 600_000), 600_000),
    navigationMs: number("PAGE_NAVIGATION_TIMEOUT_MS", 20_000),
    totalMs: number("PAGE_TOTAL_TIMEOUT_MS", 40_000),
    requests: number("PAGE_MAX_REQUESTS", 1_000),
    bytes: number("PAGE_MAX_BYTES", 50_000_000),
    pageHeight: number("PAGE_MAX_HEIGHT", 20_000),
    privateHosts: parsePrivateHosts(variables["PAGE_PRIVATE_HOSTS"]),
  };
}
