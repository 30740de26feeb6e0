import { GatewayError } from "../../errors/gateway-error.ts";
import { CATALOGUE_CREATED, MODEL_OWNER } from "../../models/catalogue.ts";
import { MESSAGE_MODEL_IDS } from "../../models/default-aliases.ts";
import { resolveModel } from "../../models/resolve.ts";
import type { Handler } from "../../platform/context.ts";

const CREATED_AT = new Date(CATALOGUE_CREATED * 1000).toISOString();

/** A model of the message-style list (contract), with the fields that the style's SDKs read besides. */
function toModelObject(id: string): Record<string, unknown> {
  return {
    id,
    object: "model",
    created: CATALOGUE_CREATED,
    owned_by: MODEL_OWNER,
    type: "model",
    display_name: id,
    created_at: CREATED_AT,
  };
}

/** `GET /vendorb/v1/models`: the whole list in one page. */
export const messageModels: Handler = () =>
  Response.json({
    object: "list",
    data: MESSAGE_MODEL_IDS.map(toModelObject),
    first_id: MESSAGE_MODEL_IDS[0] ?? null,
    last_id: MESSAGE_MODEL_IDS.at(-1) ?? null,
    has_more: false,
  });

/** `GET /vendorb/v1/models/{id}`: any name that a message may be sent to. */
export const messageModel: Handler = async (context) => {
  const id = context.params["id"] ?? "";
  const { config } = await context.config();
  try {
    resolveModel(id, config.model_aliases);
  } catch (error) {
    // Asked for by path, an unknown model is a thing that is not there.
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(404, error.message, { code: error.code, param: error.param });
  }
  return Response.json(toModelObject(id));
};
