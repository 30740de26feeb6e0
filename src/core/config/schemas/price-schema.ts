import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { amountSchema } from "./shared-fields.ts";

/** Price of a model, in the operator's currency: of a million tokens unless the name says otherwise. */
export const priceSchema = lazyObject(() => ({
  input: z.number().min(0).default(0),
  /** Tokens that the provider read from its cache; defaults to `cached_input`, else to `input`. */
  cache_read: z.number().min(0).optional(),
  /** The name of `cache_read` in configurations of older versions. */
  cached_input: z.number().min(0).optional(),
  /**
   * Tokens that the provider wrote to its cache for five minutes, or for a time that it does not state;
   * defaults to `input`.
   */
  cache_write_5m: z.number().min(0).optional(),
  /** Tokens that the provider wrote to its cache for an hour; defaults to `cache_write_5m`. */
  cache_write_1h: z.number().min(0).optional(),
  output: z.number().min(0).default(0),
  /** Tokens of reasoning, sound and images. Each defaults to `input` or `output`. */
  reasoning: amountSchema().optional(),
  audio_input: amountSchema().optional(),
  audio_output: amountSchema().optional(),
  image_input: amountSchema().optional(),
  image_output: amountSchema().optional(),
  /** A thousand web searches of the provider's tools, and a thousand search units of rankings. */
  web_searches_1k: amountSchema().optional(),
  search_units_1k: amountSchema().optional(),
  /** An hour of sound that the provider counts in seconds. */
  audio_hour: amountSchema().optional(),
}));

export type Price = z.output<typeof priceSchema>;
