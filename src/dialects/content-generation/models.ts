import type { CatalogueModel } from "../../conversation/model.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import { CATALOGUE, CONTEXT_LENGTH } from "../../models/catalogue.ts";
import { resolveModel } from "../../models/resolve.ts";
import type { Handler } from "../../platform/context.ts";

/** Tokens that one answer may have; told to clients that plan by it. */
const OUTPUT_LIMIT = 65_536;

/** A model as this style describes it. `name` is the name that it was asked for by. */
function toModelObject(model: CatalogueModel, name: string): Record<string, unknown> {
  return {
    name: `models/${name}`,
    baseModelId: model.id,
    version: "4",
    displayName: name,
    description: model.search ? "Chat model with web search" : "Chat model",
    inputTokenLimit: CONTEXT_LENGTH,
    outputTokenLimit: OUTPUT_LIMIT,
    supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"],
    thinking: model.thinking,
  };
}

/** `GET /v1beta/models`: the canonical models, in one page. */
export const contentModels: Handler = () =>
  Response.json({ models: CATALOGUE.map((model) => toModelObject(model, model.id)) });

/** `GET /v1beta/models/{id}`: a model by id or alias. */
export const contentModel: Handler = async (context) => {
  const name = (context.params["id"] ?? "").replace(/^models\//, "");
  const { config } = await context.config();
  try {
    return Response.json(toModelObject(resolveModel(name, config.model_aliases), name));
  } catch (error) {
    // Asked for by path, an unknown model is a thing that is not there.
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(404, error.message, { code: error.code, param: error.param });
  }
};
