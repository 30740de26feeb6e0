import type { CatalogueModel } from "../../conversation/model.ts";
import { CONTEXT_LENGTH } from "../../models/catalogue.ts";
import { EMBEDDING_DIMENSIONS } from "../../models/embedding-models.ts";
import { listedModels, modelAtPath } from "../../models/resolve.ts";
import type { Context } from "../../platform/context.ts";
import { type Declaration, type Endpoint, json, open } from "../../routing/endpoint.ts";
import { contentModelSchema, contentModelsSchema } from "./answers.ts";
import { speaksContentGeneration } from "./names.ts";

/** Maximum output tokens reported for a model without its own limit. Clients plan with this number. */
const OUTPUT_LIMIT = 65_536;

/** Converts a model to the model object of this style. `name` is the name that the caller requested. */
function toModelObject(model: CatalogueModel, name: string): Record<string, unknown> {
  return {
    name: `models/${name}`,
    baseModelId: model.id,
    version: "4",
    displayName: name,
    description: model.search ? "Chat model with web search" : "Chat model",
    inputTokenLimit: model.context ?? CONTEXT_LENGTH,
    outputTokenLimit: model.output ?? OUTPUT_LIMIT,
    supportedGenerationMethods: EMBEDDING_DIMENSIONS.has(name)
      ? ["embedContent", "batchEmbedContents"]
      : ["generateContent", "streamGenerateContent", "countTokens"],
    thinking: model.thinking,
  };
}

const listing = {
  method: "GET",
  summary: "List the models",
  answers: json(contentModelsSchema),
  handler: async (context: Context) => {
    const { config } = await context.config();
    return Response.json({ models: listedModels(config).map((model) => toModelObject(model, model.id)) });
  },
} as const;

const reading: Omit<Declaration<unknown, unknown, unknown>, "path"> = {
  method: "GET",
  summary: "Read a model by id or alias",
  answers: json(contentModelSchema),
  handler: async (context, { params }) => {
    const name = (params["model"] ?? "").replace(/^models\//, "");
    const { config } = await context.config();
    return Response.json(toModelObject(modelAtPath(name, config), name));
  },
};

/**
 * `GET /v1beta/models`: the canonical models, in one page. `GET /v1beta/models/{id}`: a model by id or alias. The paths
 * under `/v1` answer only SDKs of this style.
 */
export const CONTENT_MODELS: readonly Endpoint[] = [
  open({ ...listing, path: "/v1beta/models" }),
  open({ ...listing, path: "/v1/models", when: speaksContentGeneration }),
  open({ ...reading, path: "/v1beta/models/:model+" }),
  open({ ...reading, path: "/v1/models/:model+", when: speaksContentGeneration }),
];
