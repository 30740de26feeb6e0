import * as z from "zod";
import { toStoredRoute } from "../../../core/config/model-route.ts";
import { toProviderId } from "../../../core/config/provider-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { RouteTarget } from "../../../core/conversation/model.ts";
import { ROUTE_STRATEGIES } from "../../../core/conversation/route-strategy.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { PROVIDER_HEALTHS } from "../../../core/ports/account-status.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { previewOrder } from "../../../gateway/generation/routes/route-strategies.ts";
import { ModelNotFoundError } from "../../../gateway/models/model-not-found.ts";
import { resolveModel } from "../../../gateway/models/resolve-model.ts";
import { fromNano } from "../../../records/usage/prices.ts";
import { readProviderHealth } from "../monitoring/provider-health.ts";
import { routeModelsSchema } from "./aliases.ts";

/** The size of the request for which the order is computed. */
const TOKENS = { prompt: 1_000, answer: 500 } as const;

/** Query of `GET /admin/route-order`: a route, which need not be saved. `models` is a JSON list. */
const orderSchema = lazyObject(() => ({
  models: z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue("must be a JSON list of models");
        return z.NEVER;
      }
    })
    .pipe(routeModelsSchema()),
  strategy: z.enum(ROUTE_STRATEGIES).default("order"),
}));

const answerSchema = () =>
  z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    /**
     * In the order in which a new conversation tries them; with weights, in that of the list.
     * Models that do not exist are missing.
     */
    targets: z.array(
      z.object({
        model: z.string(),
        provider: z.string(),
        health: z.enum(PROVIDER_HEALTHS),
        /** The cost of a request with these tokens; null: the model has no price. */
        cost: z.number().nullable(),
        /** The usual time until the first token; null: not measured in the last minutes. */
        first_token_ms: z.int().nullable(),
        /** Tokens; null: unknown. */
        context: z.int().nullable(),
      }),
    ),
  });

/** A name that only this route has. */
const ROUTE_NAME = "route-order";

function resolveTargets(
  { model_aliases, providers }: Config,
  stored: Config["model_routes"][string],
): readonly RouteTarget[] {
  try {
    const names = { model_aliases, providers, model_routes: { [ROUTE_NAME]: stored } };
    const { route, ...model } = resolveModel(ROUTE_NAME, names);
    return route ?? [{ model }];
  } catch (error) {
    if (error instanceof ModelNotFoundError) return [];
    throw error;
  }
}

export const ROUTE_ORDER_ENDPOINTS = [
  /** `GET /admin/route-order`: which model of a route is tried first now, and by which facts. Changes nothing. */
  adminEndpoint({
    method: "GET",
    path: "/admin/route-order",
    summary: "The order in which a route tries its models now",
    query: orderSchema,
    answers: jsonResponse(answerSchema),
    handler: async ({ platform }, { query: { models, strategy } }) => {
      const { config } = await platform.configuration.readFresh();
      const given = resolveTargets(config, toStoredRoute(models, strategy));
      const ordered = previewOrder(config, platform, strategy, given, TOKENS);
      const status = await platform.accounts.getStatus(0);
      return Response.json({
        prompt_tokens: TOKENS.prompt,
        completion_tokens: TOKENS.answer,
        targets: ordered.map(({ model, costNano, firstTokenMs }) => {
          const provider = toProviderId(model.provider);
          return {
            model: model.id,
            provider,
            health: readProviderHealth(status, provider).health,
            cost: costNano === null ? null : fromNano(costNano),
            first_token_ms: firstTokenMs === null ? null : Math.round(firstTokenMs),
            context: model.context ?? null,
          };
        }),
      });
    },
  }),
] satisfies readonly Endpoint[];
