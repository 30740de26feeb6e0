import * as z from "zod";
import type { CatalogueModel } from "../../core/conversation/model.ts";
import { jsonResponse, openEndpoint } from "../../core/routing/endpoint.ts";
import { CATALOGUE_CREATED, MODEL_OWNER } from "../models/catalogue.ts";
import { getRouteModel, listAllModels, resolvePathModel } from "../models/resolve-model.ts";

/** Converts a model to the model object (docs/contract/answers.md, Model object). */
function toModelObject({ id, provider: owned_by = MODEL_OWNER }: CatalogueModel): Record<string, unknown> {
  return { id, object: "model", created: CATALOGUE_CREATED, owned_by, permission: [] };
}

const modelSchema = () =>
  z.object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int(),
    owned_by: z.string(),
    permission: z.array(z.unknown()).max(0),
  });

/**
 * `GET /v1/models`: the canonical models, then the models of configured providers and the names of routes. Aliases are not
 * listed.
 */
export const listModels = openEndpoint({
  method: "GET",
  path: ["/v1/models", "/models"],
  summary: "List the canonical models",
  answers: jsonResponse(() => z.object({ object: z.literal("list"), data: z.array(modelSchema()) })),
  handler: async (context) => {
    const { config } = await context.config();
    const data = listAllModels(config).map(toModelObject);
    return Response.json({ object: "list", data });
  },
});

/** `GET /v1/models/{id}`: resolves an alias to its canonical model. A route is returned under its own name. */
export const readModel = openEndpoint({
  method: "GET",
  path: ["/v1/models/:model+", "/models/:model+"],
  summary: "Read a model by id or alias",
  answers: jsonResponse(modelSchema),
  handler: async (context, { params }) => {
    const { config } = await context.config();
    const name = params["model"] ?? "";
    return Response.json(toModelObject(getRouteModel(name, config) ?? resolvePathModel(name, config)));
  },
});
