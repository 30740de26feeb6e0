import * as z from "zod";
import { optionalNumber } from "./field-schemas.ts";

const optionalText = z.string().nullish();

/**
 * The members of chat and text completions that have an effect but that no request schema checks, for the OpenAPI document.
 * Unusable values of them are ignored, so a schema that checks requests must not have them.
 */
export const documentedOptions = () => ({
  top_k: optionalNumber,
  min_p: optionalNumber,
  presence_penalty: optionalNumber,
  frequency_penalty: optionalNumber,
  repetition_penalty: optionalNumber,
  logit_bias: z.record(z.string(), z.number()).nullish(),
  user: optionalText,
  prompt_cache_key: optionalText,
  metadata: z.looseObject({ tags: z.union([z.array(z.string()), z.string()]).nullish() }).nullish(),
});

/** The same of chat completions alone. */
export const documentedChatOptions = () => ({
  verbosity: optionalText,
  modalities: z.array(z.string()).nullish(),
});
