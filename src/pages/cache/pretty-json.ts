import { toUtf8 } from "../../core/encoding/bytes.ts";
import { type ServableAnswer, withConversion } from "./answer-cache.ts";

/** An answer as indented JSON. */
export function withPrettyJson(answer: ServableAnswer): ServableAnswer {
  return withConversion(answer, "pretty", answer.headers, (body) => {
    const result: unknown = JSON.parse(new TextDecoder().decode(body));
    return toUtf8(`${JSON.stringify(result, null, 2)}\n`);
  });
}
