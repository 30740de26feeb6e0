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
import { CATALOGUE_CREATED, CONTEXT_LENGTH, MODEL_OWNER } from "../../models/catalogue.ts";
import { MESSAGE_MODEL_IDS } from "../../models/default-aliases.ts";
import { paginateModels } from "../../models/paginate-models.ts";
import { listAdditionalModels, resolvePathModel } from "../../models/resolve-model.ts";
import { messageModelSchema, messageModelsSchema } from "./answers.ts";
import { isMessagesClient, PREFIXES } from "./names.ts";

const CREATED_AT = new Date(CATALOGUE_CREATED * 1000).toISOString();

/**
 * Converts a model to an entry of the message-style list (docs/contract/answers.md, Model list), with the additional
 * fields that SDKs of the style read.
 */
function toModelObject(id: string, model: Partial<CatalogueModel> = {}): Record<string, unknown> {
  return {
    id,
    object: "model",
    created: CATALOGUE_CREATED,
    owned_by: model.provider ?? MODEL_OWNER,
    type: "model",
    display_name: id,
    created_at: CREATED_AT,
    capabilities: null,
    deprecated_at: null,
    lifecycle: "active",
    line: null,
    max_input_tokens: model.context ?? CONTEXT_LENGTH,
    max_tokens: model.output ?? null,
    retires_at: null,
  };
}

interface ModelListQuery {
  readonly limit?: number | undefined;
  readonly after_id?: string | undefined;
  readonly before_id?: string | undefined;
}

const listModels = {
  method: "GET",
  summary: "List the message-style models",
  query: lazyLooseObject(() => ({
    limit: z.coerce.number().int().min(1).optional(),
    after_id: z.string().optional(),
    before_id: z.string().optional(),
  })),
  answers: jsonResponse(messageModelsSchema),
  handler: async (context: Context, { query }: HandlerInput<unknown, ModelListQuery>) => {
    const { limit, after_id: after, before_id: before } = query;
    const { config } = await context.config();
    const family = MESSAGE_MODEL_IDS.map((id) => ({ id, model: {} }));
    const additionalModels = listAdditionalModels(config).map((model) => ({ id: model.id, model }));
    const cursorName = after === undefined ? "before_id" : "after_id";
    const page = { limit, after, before, cursorName };
    const { data, hasMore } = paginateModels([...family, ...additionalModels], page);
    return Response.json({
      object: "list",
      data: data.map(({ id, model }) => toModelObject(id, model)),
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: hasMore,
    });
  },
} as const;

const readModel: Omit<Declaration<unknown, unknown, unknown>, "path"> = {
  method: "GET",
  summary: "Read a message-style model",
  answers: jsonResponse(messageModelSchema),
  handler: async (context, { params }) => {
    const id = params["model"] ?? "";
    const { config } = await context.config();
    return Response.json(toModelObject(id, resolvePathModel(id, config)));
  },
};

/**
 * `GET /vendorb/v1/models`: the whole list, or a page of it. With an id: any model name that a message may be sent to.
 * The paths under `/v1` answer only SDKs of this style.
 */
export const MESSAGE_MODELS: readonly Endpoint[] = [
  openEndpoint({ ...listModels, path: PREFIXES.map((prefix) => `${prefix}/v1/models`) }),
  openEndpoint({ ...listModels, path: "/v1/models", when: isMessagesClient }),
  openEndpoint({ ...readModel, path: PREFIXES.map((prefix) => `${prefix}/v1/models/:model+`) }),
  openEndpoint({ ...readModel, path: "/v1/models/:model+", when: isMessagesClient }),
];
