import { toUtf8 } from "../encoding/bytes.ts";
import type { KeptAnswer } from "./kept-answers.ts";

/** An answer in JSON with line breaks. */
export function prettyAnswer(answer: KeptAnswer): KeptAnswer {
  const result: unknown = JSON.parse(new TextDecoder().decode(answer.body));
  return { ...answer, body: toUtf8(`${JSON.stringify(result, null, 2)}\n`) };
}
