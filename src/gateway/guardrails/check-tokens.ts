import type { AnswerToken, LikelyToken } from "../../core/conversation/events.ts";
import { toUtf8 } from "../../core/encoding/bytes.ts";
import type { TextChecker } from "./text-checker.ts";

/** Whether an expression matches the tokens of a checked text, or one of their alternatives. */
export async function hasMatchingToken(
  tokens: readonly AnswerToken[],
  text: string,
  checker: TextChecker,
): Promise<boolean> {
  const forms = new Set([tokens.map(({ token }) => token).join(""), decode(tokens)]);
  for (const alternative of tokens.flatMap(({ top }) => top))
    forms.add(alternative.token).add(decode([alternative]));
  forms.delete(text);
  for (const form of forms) if (await checker.matchesCopy(form)) return true;
  return false;
}

/** The text that the bytes of tokens spell. */
function decode(tokens: readonly LikelyToken[]): string {
  const bytes = tokens.flatMap((token) => [...(token.bytes ?? toUtf8(token.token))]);
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
