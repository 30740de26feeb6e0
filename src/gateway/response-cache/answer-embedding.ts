import type { Context } from "../../core/ports/context.ts";
import { computeVectors, planEmbedding } from "../embeddings/embed.ts";
import type { EmbeddingRequest, Vectors } from "../embeddings/embedding-request.ts";
import { answerCallThroughCache } from "./answer-through-cache.ts";

/** Members of the bodies on which vectors do not depend. */
const IGNORED_MEMBERS = ["user", "keep_alive"];

/**
 * Answers a request for embeddings, from the response cache where it is on.
 *
 * @param body the JSON body that the caller sent
 * @throws GatewayError as {@link planEmbedding} and {@link computeVectors} do
 */
export async function answerEmbedding(
  request: EmbeddingRequest,
  body: unknown,
  render: (context: Context, vectors: Vectors) => Response | Promise<Response>,
): Promise<Response> {
  const plan = await planEmbedding(request);
  const create = async (context: Context) =>
    render(context, await computeVectors({ ...request, context }, plan));
  // Local vectors cost nothing.
  if (plan.embedder === "local") return create(request.context);
  const { context, caller, style, model } = request;
  const describe = () => ({
    context,
    caller,
    style,
    model,
    readInput: () => ({ body, ignoredMembers: IGNORED_MEMBERS }),
    headers: {},
    isStorable: () => true,
    recordReplay: (admit: () => Promise<void>) => {
      if (model.provider !== undefined) context.facts.provider = model.provider;
      return admit();
    },
  });
  return answerCallThroughCache(context, caller, describe, create);
}
