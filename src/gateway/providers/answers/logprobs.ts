import type { AnswerToken, LikelyToken } from "../../../core/conversation/events.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";

/** Reads a list of log probabilities (`logprobs.content` of chat completions). Skips malformed entries. */
export function readLogprobs(list: unknown): readonly AnswerToken[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const token = isObject(entry) ? readLogprob(entry) : null;
    if (token === null || !isObject(entry)) return [];
    const topLogprobs: unknown = entry["top_logprobs"];
    const top = Array.isArray(topLogprobs)
      ? topLogprobs.flatMap((item: unknown) => (isObject(item) ? (readLogprob(item) ?? []) : []))
      : [];
    return [{ ...token, top }];
  });
}

function readLogprob({ token, logprob, bytes }: JsonObject): LikelyToken | null {
  if (typeof token !== "string" || typeof logprob !== "number" || !Number.isFinite(logprob)) return null;
  const numbers = Array.isArray(bytes) ? bytes.filter((byte) => Number.isSafeInteger(byte)) : null;
  return { token, logprob, bytes: numbers };
}
