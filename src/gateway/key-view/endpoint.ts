import * as z from "zod";
import { mapLimits } from "../../core/config/limit-kinds.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { callerEndpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { describeKey, type KeyView } from "./key-view.ts";

const limitStateSchema = () =>
  z
    .object({
      limit: z.number(),
      used: z.number(),
      remaining: z.number(),
      /** RFC 3339; null for limits without a fixed time: they become free as requests end. */
      resets_at: z.string().nullable(),
    })
    .nullable();

const limitStatesSchema = () => z.object(mapLimits(limitStateSchema));

const groupSchema = () =>
  z
    .object({
      id: z.string(),
      name: z.string(),
      limits: limitStatesSchema(),
      /** Empty: all. */
      models: z.array(z.string()),
    })
    .nullable();

const usageSumsSchema = () =>
  z.object({
    requests: z.int(),
    prompt_tokens: z.int(),
    /** Part of `prompt_tokens`. */
    cached_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    /** In the currency of the operator's prices. */
    cost: z.number(),
  });

const keyViewSchema = () =>
  z.object({
    object: z.literal("key"),
    id: z.string(),
    name: z.string(),
    /** RFC 3339; null: never. */
    expires_at: z.string().nullable(),
    /** Null: no such limit. */
    limits: limitStatesSchema(),
    /** The limits that all keys of the team, or of the user, share; null: the key has none. */
    team: groupSchema(),
    user: groupSchema(),
    /** Days and months are those of UTC. */
    usage: z.object({ today: usageSumsSchema(), this_month: usageSumsSchema() }),
    /** The names, styles and networks that the key allows; empty: all. */
    models: z.array(z.string()),
    styles: z.array(z.string()),
    networks: z.array(z.string()),
    /** The ids of `GET /v1/models` that the key may use. */
    available_models: z.array(z.string()),
  }) satisfies z.ZodType<KeyView>;

/**
 * `GET /v1/key`: limits, use and scope of the key that the request is made with, and of no other.
 *
 * @throws GatewayError 404 `not_found` for a token of the provider.
 */
export const readOwnKey = callerEndpoint({
  method: "GET",
  path: "/v1/key",
  summary: "Read the limits and the use of your own key",
  answers: jsonResponse(keyViewSchema),
  statuses: { 404: "The credential is a token of the provider, not a key of the gateway." },
  handler: async (context, { caller: { key } }) => {
    if (key === null) {
      throw new GatewayError(
        404,
        "this credential is no key of the gateway: only the provider knows its limits",
        { code: "not_found" },
      );
    }
    const view = await describeKey(context, key);
    return Response.json(view, { headers: { "cache-control": "no-store" } });
  },
});
