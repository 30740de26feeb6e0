import { isObject } from "../../../core/encoding/json.ts";
import { readCount, readUsage } from "../json.ts";
import type { ProviderUsage } from "../provider.ts";

const COUNTS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
] as const;

/**
 * Collects the token counts of an answer. They come at its beginning and at its end; the later counts are better. Some
 * compatible servers send 0 in one of the two places, so a 0 does not replace another count.
 */
export class UsageCollector {
  readonly #counts = new Map<string, number>();

  add(usage: unknown): void {
    if (!isObject(usage)) return;
    for (const name of COUNTS) this.#set(name, usage[name]);
    const { output_tokens_details: details } = usage;
    if (isObject(details)) this.#set("thinking_tokens", details["thinking_tokens"]);
  }

  /** The token counts; null: none came. Tokens that were read from or written to a cache are part of the prompt. */
  total(): ProviderUsage | null {
    if (this.#counts.size === 0) return null;
    const input = this.#counts.get("input_tokens");
    const cached = this.#counts.get("cache_read_input_tokens");
    const cacheWritten = this.#counts.get("cache_creation_input_tokens");
    return readUsage({
      prompt: input === undefined ? undefined : input + (cached ?? 0) + (cacheWritten ?? 0),
      completion: this.#counts.get("output_tokens"),
      reasoning: this.#counts.get("thinking_tokens"),
      cached,
      cacheWritten,
    });
  }

  #set(name: string, value: unknown): void {
    const count = readCount(value);
    if (count !== undefined) this.#counts.set(name, count || this.#of(name));
  }

  #of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}
