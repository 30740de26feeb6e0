import { toUtf8 } from "../encoding/bytes.ts";
import { inForm, type KeptAnswer } from "./kept-answers.ts";

/** An answer as indented JSON. */
export function prettyAnswer(answer: KeptAnswer): KeptAnswer {
  return inForm(answer, "pretty", answer.headers, (body) => {
    const result: unknown = JSON.parse(new TextDecoder().decode(body));
    return toUtf8(`${JSON.stringify(result, null, 2)}\n`);
  });
}
