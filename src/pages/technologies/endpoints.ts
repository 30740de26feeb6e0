import { toUtf8 } from "../../encoding/bytes.ts";
import type { Context } from "../../platform/context.ts";
import { json, open } from "../../routing/endpoint.ts";
import { readFreshness } from "../freshness.ts";
import { answerResponse, cacheKey, type KeptAnswer, keptOrMade } from "../kept-answers.ts";
import { QueryParameters } from "../parameters.ts";
import { technologiesQuerySchema } from "../query-schemas.ts";
import { rateLimited } from "../rate-limit.ts";
import { technologiesSchema } from "./result.ts";

/** `GET /v1/technologies/`: what a page is built with (contract, GET /v1/technologies/). */
export const technologies = open({
  method: "GET",
  path: "/v1/technologies",
  summary: "Technologies that a web page is built with",
  lenientQuery: technologiesQuerySchema,
  answers: json(technologiesSchema),
  handler: rateLimited(async (context, { query: given, client, admitted }) => {
    const query = new QueryParameters(given);
    const page = query.page(context.platform.variables.pages);
    const prettify = query.boolean("prettify", false);
    const freshness = readFreshness(query);
    query.refuseOthers();
    const key = await cacheKey(context, "technologies", page.href);
    const answer = await keptOrMade(context, key, freshness, admitted, () => detected(context, page, client));
    return answerResponse(context, prettify ? pretty(answer) : answer, freshness);
  }),
});

/** What reads pages is large, and made only where somebody asks for it: all other isolates start sooner. */
async function detected(context: Context, page: URL, client: string): Promise<KeptAnswer> {
  const { detect } = await import("./detect.ts");
  return detect(context, page, client);
}

function pretty(answer: KeptAnswer): KeptAnswer {
  const result: unknown = JSON.parse(new TextDecoder().decode(answer.body));
  return { ...answer, body: toUtf8(`${JSON.stringify(result, null, 2)}\n`) };
}
