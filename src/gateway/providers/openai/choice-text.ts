import { isObject, type JsonObject } from "../../../core/encoding/json.ts";

/** The texts of a content: a text, or parts with texts and thinking. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (Array.isArray(content)) return content.flatMap(textsOf);
  return isObject(content) ? [content["text"], content["thinking"], content["refusal"]].flatMap(textsOf) : [];
}

/** All that the model wrote in a choice, or in a piece of it: text, reasoning and refusal. */
export function readChoiceText({ delta, message, text }: JsonObject): string {
  const piece = isObject(delta) ? delta : message;
  if (!isObject(piece)) return textsOf(text).join("");
  const { reasoning_content, reasoning, content, refusal } = piece;
  return [reasoning_content || reasoning, content, refusal].flatMap(textsOf).join("");
}
