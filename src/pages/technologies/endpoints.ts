import { toUtf8 } from "../../encoding/bytes.ts";
import type { Context } from "../../platform/context.ts";
import { json, open } from "../../routing/endpoint.ts";
import { answerResponse, cacheKey, findAnswer, type KeptAnswer, keepAnswer } from "../kept-answers.ts";
import { QueryParameters } from "../parameters.ts";
import { technologiesQuerySchema } from "../query-schemas.ts";
import { rateLimited } from "../rate-limit.ts";
import { DEFAULT_MAX_AGE, LONGEST_MAX_AGE } from "../thumbnails/parameters.ts";
import { technologiesSchema } from "./result.ts";

/** `GET /v1/technologies/`: what a page is built with (contract, GET /v1/technologies/). */
export const technologies = open({
  method: "GET",
  path: "/v1/technologies",
  summary: "Technologies that a web page is built with",
  lenientQuery: technologiesQuerySchema,
  answers: json(technologiesSchema),
  handler: rateLimited(async (context, admitted) => {
    const query = new QueryParameters(context.url.searchParams);
    const page = query.page(context.platform.variables.pages);
    const prettify = query.boolean("prettify", false);
    const maxAge = query.integer("maxAge", 0, LONGEST_MAX_AGE) ?? DEFAULT_MAX_AGE;
    query.refuseOthers();
    const key = await cacheKey(context, "technologies", page.href);
    const [found] = await Promise.all([findAnswer(context, key, maxAge), admitted]);
    const answer = found ?? (await detected(context, page));
    if (found === null) keepAnswer(context, key, answer);
    return answerResponse(context, prettify ? pretty(answer) : answer, maxAge);
  }),
});

/** What reads pages is large, and made only where somebody asks for it: all other isolates start sooner. */
async function detected(context: Context, page: URL): Promise<KeptAnswer> {
  const { detect } = await import("./detect.ts");
  return detect(context, page);
}

function pretty(answer: KeptAnswer): KeptAnswer {
  const result: unknown = JSON.parse(new TextDecoder().decode(answer.body));
  return { ...answer, body: toUtf8(`${JSON.stringify(result, null, 2)}\n`) };
}
