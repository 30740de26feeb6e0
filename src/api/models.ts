import type { CatalogueModel } from "../conversation/model.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { CATALOGUE, CATALOGUE_CREATED, MODEL_OWNER } from "../models/catalogue.ts";
import { resolveModel } from "../models/resolve.ts";
import type { Handler } from "../platform/context.ts";

/** The model object (contract, Model object). */
function toModelObject(model: CatalogueModel): Record<string, unknown> {
  return { id: model.id, object: "model", created: CATALOGUE_CREATED, owned_by: MODEL_OWNER, permission: [] };
}

/** `GET /v1/models`: the canonical models; aliases are not expanded. */
export const listModels: Handler = () =>
  Response.json({ object: "list", data: CATALOGUE.map(toModelObject) });

/** `GET /v1/models/{id}`: accepts an alias and returns the canonical model that it stands for. */
export const getModel: Handler = async (context) => {
  const { config } = await context.config();
  try {
    return Response.json(toModelObject(resolveModel(context.params["id"] ?? "", config.model_aliases)));
  } catch (error) {
    // Asked for by path, an unknown model is a thing that is not there.
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(404, error.message, { code: error.code, param: error.param });
  }
};
