import { toUtf8 } from "../../core/encoding/bytes.ts";
import type { PageReport } from "../../core/ports/page-browser.ts";
import { type NewAnswer, type ServableAnswer, withConversion } from "./answer.ts";
import { cacheLifetime, pageHeaders } from "./page-headers.ts";

/**
 * A new answer about a page as JSON.
 *
 * @param now milliseconds since the epoch
 */
export function createJsonAnswer(result: object, report: PageReport, now: number): NewAnswer {
  return {
    body: toUtf8(JSON.stringify(result)),
    headers: { "content-type": "application/json", ...pageHeaders(report) },
    madeAt: now,
    lifetime: cacheLifetime(report),
  };
}

/** An answer as indented JSON. */
export function withPrettyJson(answer: ServableAnswer): ServableAnswer {
  return withConversion(answer, "pretty", answer.headers, (body) => {
    const result: unknown = JSON.parse(new TextDecoder().decode(body));
    return toUtf8(`${JSON.stringify(result, null, 2)}\n`);
  });
}
