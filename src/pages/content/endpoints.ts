import * as z from "zod";
import { toUtf8 } from "../../core/encoding/bytes.ts";
import { isObject } from "../../core/encoding/json.ts";
import { type ServableAnswer, withConversion } from "../answers/answer.ts";
import { withPrettyJson } from "../answers/json-answer.ts";
import { createCacheKey, getOrCreate } from "../cache/answer-cache.ts";
import { OPERATION_HEADERS, OPERATION_STATUSES } from "../http/openapi-descriptions.ts";
import type { Operation } from "../operations/define-operation.ts";
import type { PageWork } from "../operations/page-work.ts";
import { type ContentRequest, contentQuerySchema, readContentRequest } from "./content-parameters.ts";
import { contentSchema } from "./result.ts";

/**
 * Returns the content of a page, from the cache or from a new load.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
async function getContentAnswer(
  work: PageWork,
  request: ContentRequest,
  admitted: Promise<void>,
): Promise<ServableAnswer> {
  const { page, setup, moment, format, selector, elements, freshness, output, prettify } = request;
  const key = await createCacheKey(work, "content", setup, [page.href, moment, format, selector, elements]);
  const answer = await getOrCreate(work, key, freshness, admitted, async (signal) => {
    // The code that reads pages is large. Loading it on first use makes other isolates start faster.
    const { loadContent } = await import("./load-content.ts");
    return loadContent({ ...work, signal }, request);
  });
  if (output === "raw") return toRawAnswer(answer);
  return prettify ? withPrettyJson(answer) : answer;
}

/** The content alone. Always plain text: a browser must not run a foreign page on this program's own origin. */
function toRawAnswer(answer: ServableAnswer): ServableAnswer {
  const headers = { ...answer.headers, "content-type": "text/plain; charset=utf-8" };
  return withConversion(answer, "raw", headers, (bytes) => {
    const result: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return toUtf8(isObject(result) ? String(result["content"]) : "");
  });
}

/** `/v1/content`: the rendered content of a page (docs/page-contract.md, GET /v1/content/). */
export const CONTENT: Operation<ContentRequest> = {
  name: "content",
  summary: "Rendered HTML, Markdown or text of a web page, and data by selectors",
  query: contentQuerySchema,
  answers: () => ({ "application/json": contentSchema(), "text/plain": z.string() }),
  headers: OPERATION_HEADERS,
  statuses: { ...OPERATION_STATUSES, 404: "No element matches a selector." },
  read: readContentRequest,
  getAnswer: getContentAnswer,
};
