import * as z from "zod";
import type { Sampling } from "../../conversation/conversation.ts";

/** A JSON object with string keys and any values. */
export const jsonObject = z.record(z.string(), z.unknown());

/** A boolean that clients may also send as null. */
export const optionalBoolean = z.boolean().nullish();

/** A number that clients may also send as null. */
export const optionalNumber = z.number().nullish();

/** A number, also one that is written as a string; undefined for anything else. */
export function finite(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Sampling options with everything left out that the request left out. Unusable values are left out too. */
export function samplingOf(options: {
  temperature?: unknown;
  topP?: unknown;
  stop?: string | readonly string[] | null | undefined;
  maxTokens?: unknown;
  seed?: unknown;
  reasoningEffort?: string | null | undefined;
}): Sampling {
  const temperature = finite(options.temperature);
  const topP = finite(options.topP);
  const maxTokens = finite(options.maxTokens);
  const seed = finite(options.seed);
  const { stop, reasoningEffort } = options;
  const stops = typeof stop === "string" ? [stop] : stop;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(seed === undefined ? {} : { seed }),
    ...(stops === undefined || stops === null || stops.length === 0 ? {} : { stop: stops }),
    ...(reasoningEffort === undefined || reasoningEffort === null ? {} : { reasoningEffort }),
  };
}
