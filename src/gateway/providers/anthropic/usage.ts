import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import type { ProviderUsage } from "../answers/provider-events.ts";
import { objectsIn, readCount, readUsage } from "../json.ts";

const COUNTS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
  "thinking_tokens",
  "ephemeral_5m_input_tokens",
  "ephemeral_1h_input_tokens",
  "web_search_requests",
  "web_fetch_requests",
] as const;
/** The objects in a usage that contain counts. */
const DETAILS = ["output_tokens_details", "cache_creation", "server_tool_use"] as const;

type Counts = { -readonly [Name in (typeof COUNTS)[number]]?: number };

/** Sampling of other prompts, which the counts of the answer do not include: to summarize a context, or by an advisor. */
const SEPARATE_ITERATIONS: ReadonlySet<unknown> = new Set(["compaction", "advisor_message"]);

/**
 * Collects the token counts of an answer. They come at its beginning and at its end; the later counts are cumulative and
 * replace the earlier ones. Some compatible servers send 0 in one of the two places, so a 0 does not replace another count.
 */
export class UsageCollector {
  readonly #counts: Counts = {};
  #separateCounts: readonly Counts[] = [];

  add(usage: unknown): void {
    if (!isObject(usage)) return;
    for (const [name, count] of readCounts(usage)) this.#counts[name] = count || (this.#counts[name] ?? 0);
    const { iterations } = usage;
    if (!Array.isArray(iterations)) return;
    this.#separateCounts = objectsIn(iterations)
      .filter(({ type }) => SEPARATE_ITERATIONS.has(type))
      .map((iteration) => Object.fromEntries(readCounts(iteration)));
  }

  /** The token counts; null: none came. Tokens that were read from or written to a cache are part of the prompt. */
  total(): ProviderUsage | null {
    if (Object.keys(this.#counts).length === 0) return null;
    const all = [this.#counts, ...this.#separateCounts];
    const sum = (name: keyof Counts): number | undefined => {
      const counts = all.flatMap((each) => each[name] ?? []);
      return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
    };
    const input = sum("input_tokens");
    const cached = sum("cache_read_input_tokens");
    const shortLived = sum("ephemeral_5m_input_tokens");
    const longLived = sum("ephemeral_1h_input_tokens");
    const byLifetime = longLived === undefined ? undefined : (shortLived ?? 0) + longLived;
    const cacheWritten = sum("cache_creation_input_tokens") ?? byLifetime;
    return readUsage({
      prompt: input === undefined ? undefined : input + (cached ?? 0) + (cacheWritten ?? 0),
      completion: sum("output_tokens"),
      reasoning: sum("thinking_tokens"),
      cached,
      cacheWritten,
      // Only the beginning of a stream states lifetimes. The answer may write more: in the same proportion.
      cacheWritten1h:
        longLived === undefined || byLifetime === undefined
          ? undefined
          : Math.round(((cacheWritten ?? 0) * longLived) / Math.max(1, byLifetime)),
      webSearches: sum("web_search_requests"),
      webFetches: sum("web_fetch_requests"),
    });
  }
}

function readCounts(usage: JsonObject): [name: keyof Counts, count: number][] {
  const objects = [usage, ...DETAILS.map((name) => usage[name]).filter(isObject)];
  return COUNTS.flatMap((name) => {
    const count = objects.map((object) => readCount(object[name])).find((each) => each !== undefined);
    return count === undefined ? [] : [[name, count] satisfies [keyof Counts, number]];
  });
}
