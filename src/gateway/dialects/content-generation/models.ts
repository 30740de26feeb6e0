import * as z from "zod";
import type { CatalogueModel } from "../../../core/conversation/model.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import type { Context } from "../../../core/ports/context.ts";
import {
  type Declaration,
  type Endpoint,
  type HandlerInput,
  jsonResponse,
  openEndpoint,
} from "../../../core/routing/endpoint.ts";
import { CONTEXT_LENGTH } from "../../models/catalogue.ts";
import { EMBEDDING_DIMENSIONS } from "../../models/embedding-models.ts";
import { paginateModels } from "../../models/paginate-models.ts";
import { listAllModels, resolvePathModel } from "../../models/resolve-model.ts";
import { contentModelSchema, contentModelsSchema } from "./answers.ts";
import { isContentGenerationClient } from "./names.ts";

/** Maximum output tokens reported for a model without its own limit. Clients plan with this number. */
const DEFAULT_OUTPUT_LIMIT = 65_536;

/** Converts a model to the model object of this style. `name` is the name that the caller requested. */
function toModelObject(model: CatalogueModel, name: string): Record<string, unknown> {
  return {
    name: `models/${name}`,
    baseModelId: model.id,
    version: "4",
    displayName: name,
    description: model.search ? "Chat model with web search" : "Chat model",
    inputTokenLimit: model.context ?? CONTEXT_LENGTH,
    outputTokenLimit: model.output ?? DEFAULT_OUTPUT_LIMIT,
    supportedGenerationMethods: EMBEDDING_DIMENSIONS.has(name)
      ? ["embedContent", "batchEmbedContents"]
      : ["generateContent", "streamGenerateContent", "countTokens"],
    thinking: model.thinking,
  };
}

interface ModelListQuery {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

/** A page token is the id of the last model of the previous page. */
const listModels = {
  method: "GET",
  summary: "List the models",
  query: lazyLooseObject(() => ({
    pageSize: z.coerce.number().int().min(0).optional(),
    pageToken: z.string().optional(),
  })),
  answers: jsonResponse(contentModelsSchema),
  handler: async (context: Context, { query }: HandlerInput<unknown, ModelListQuery>) => {
    const { config } = await context.config();
    const { data, hasMore } = paginateModels(listAllModels(config), {
      limit: query.pageSize || undefined,
      after: query.pageToken || undefined,
      cursorName: "pageToken",
    });
    return Response.json({
      models: data.map((model) => toModelObject(model, model.id)),
      ...(hasMore ? { nextPageToken: data.at(-1)?.id } : {}),
    });
  },
} as const;

const readModel: Omit<Declaration<unknown, unknown, unknown>, "path"> = {
  method: "GET",
  summary: "Read a model by id or alias",
  answers: jsonResponse(contentModelSchema),
  handler: async (context, { params }) => {
    const name = (params["model"] ?? "").replace(/^models\//, "");
    const { config } = await context.config();
    return Response.json(toModelObject(resolvePathModel(name, config), name));
  },
};

/**
 * `GET /v1beta/models`: the canonical models, all or a page of them. `GET /v1beta/models/{id}`: a model by id or alias.
 * The paths under `/v1` answer only SDKs of this style.
 */
export const CONTENT_MODELS: readonly Endpoint[] = [
  openEndpoint({ ...listModels, path: "/v1beta/models" }),
  openEndpoint({ ...listModels, path: "/v1/models", when: isContentGenerationClient }),
  openEndpoint({ ...readModel, path: "/v1beta/models/:model+" }),
  openEndpoint({ ...readModel, path: "/v1/models/:model+", when: isContentGenerationClient }),
];
