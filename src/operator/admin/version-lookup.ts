import * as z from "zod";
import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import { MINUTE_MS } from "../../core/units.ts";
import { readBounded } from "../../gateway/providers/transport.ts";

/** Default timeout of a look-up. */
const TIMEOUT_MS = 5_000;
/** Cache time of a look-up; a failed one has its own. */
const CACHE_MS = 15 * MINUTE_MS;
const FAILURE_CACHE_MS = 60_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

const releaseSchema = lazyObject(() => ({
  tag_name: z.string().min(1),
  html_url: z.string().default(""),
  published_at: z.string().nullish(),
}));

/** The latest release, in the format of public code hosts. */
export type Release = z.output<typeof releaseSchema>;

/** Result of a look-up. */
export interface ReleaseAnswer {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly release: Release | null;
  /** Why there is no release; empty if there is one. */
  readonly error: string;
}

/** Options of a look-up. */
export interface ReleaseLookupOptions {
  /** URL that returns the latest release as JSON; empty: no look-up. */
  readonly url: string;
  readonly fetch: Fetch;
  readonly now: () => number;
  readonly timeoutMs?: number;
}

/** Looks up the latest release and caches the result. */
export class ReleaseLookup {
  readonly #options: ReleaseLookupOptions;
  #cached: ReleaseAnswer | null = null;

  constructor(options: ReleaseLookupOptions) {
    this.#options = options;
  }

  /** Returns the latest release, at most 15 minutes old. Never throws. */
  async latest(): Promise<ReleaseAnswer> {
    const cached = this.#cached;
    if (cached !== null) {
      const lifetime = cached.release === null ? FAILURE_CACHE_MS : CACHE_MS;
      if (this.#options.now() - cached.at < lifetime) return cached;
    }
    const latest = await this.#fetchLatest();
    this.#cached = latest;
    return latest;
  }

  async #fetchLatest(): Promise<ReleaseAnswer> {
    const { url, fetch, now, timeoutMs = TIMEOUT_MS } = this.#options;
    const at = now();
    const failed = (error: string): ReleaseAnswer => ({ at, release: null, error });
    if (url === "") return failed("no release look-up is configured: set RELEASES_URL");
    try {
      const headers = { accept: "application/json", "user-agent": "polygate" };
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
      const { text, whole: isComplete } = await readBounded(response, MAX_ANSWER_BYTES);
      if (!response.ok) return failed(`the release look-up answered with status ${response.status}`);
      if (!isComplete) return failed("the release look-up broke off, or is too long");
      const release = releaseSchema.safeParse(JSON.parse(text));
      if (!release.success) return failed("the release look-up answered without a tag_name");
      return { at, release: release.data, error: "" };
    } catch (error) {
      if (error instanceof SyntaxError) return failed("the release look-up did not answer with JSON");
      const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
      return failed(
        isTimeout ? "the release look-up took too long" : "the release look-up cannot be reached",
      );
    }
  }
}

/** Whether `version` precedes `other`: compares the numbers; a pre-release precedes its release. */
export function isOlder(version: string, other: string): boolean {
  const parse = (version: string) => {
    const [numbers = "", pre = ""] = (version.replace(/^v/i, "").split("+", 1)[0] ?? "").split(/-(.*)/s);
    return { numbers: numbers.split(".").map((part) => Number.parseInt(part, 10) || 0), pre };
  };
  const a = parse(version);
  const b = parse(other);
  for (let index = 0; index < Math.max(a.numbers.length, b.numbers.length); index += 1) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  if (a.pre === "" || b.pre === "") return a.pre !== "" && b.pre === "";
  return a.pre.localeCompare(b.pre, "en", { numeric: true }) < 0;
}
