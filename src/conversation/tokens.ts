import { estimateTokenCount } from "tokenx";

/** Estimated tokens of a text, for counts that the upstream omits. */
export function estimateTokens(text: string): number {
  return text === "" ? 0 : estimateTokenCount(text);
}
