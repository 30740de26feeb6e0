import * as z from "zod";
import { DEFAULT_PROVIDER } from "../../../core/config/provider-id.ts";
import { priceSchema } from "../../../core/config/schemas/price-schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { loadKnownModels, ProviderKnowledge } from "../../../gateway/models/known-models.ts";
import { getDefaultProvider } from "../../../gateway/providers/provider-registry.ts";
import { findModelPrice } from "../../../records/usage/prices.ts";
import { getSavedProvider } from "./providers.ts";

/** US dollars, by the names of a price in the configuration. An absent price is unknown. */
const knownPriceSchema = lazyObject(() => {
  const { cached_input: _, input, output, ...others } = priceSchema.shape;
  return { input: input.unwrap().optional(), output: output.unwrap().optional(), ...others };
});

const knownModelSchema = lazyObject(() => ({
  /** The name in the provider's list, and the provider's own name. */
  model: z.string(),
  upstream: z.string(),
  /** Null: nothing is known of the model. */
  known: z
    .object({
      id: z.string(),
      context: z.int().optional(),
      output: z.int().optional(),
      vision: z.boolean().optional(),
      thinking: z.boolean().optional(),
      tools: z.boolean().optional(),
      price: knownPriceSchema,
    })
    .nullable(),
  /** The price that counts; null: the model has none, so its cost is unknown. */
  price: priceSchema.nullable(),
}));

const answerSchema = lazyObject(() => ({
  /** The packages that the data come from, with their versions. */
  source: z.array(z.string()),
  /** The day for which the prices were read. */
  date: z.string(),
  currency: z.literal("USD"),
  models: z.array(knownModelSchema),
}));

const querySchema = lazyObject(() => ({ model: z.string().trim().min(1).max(300).optional() }));

export const KNOWN_MODEL_ENDPOINTS = [
  /** `GET /admin/providers/{providerID}/known-models`: known prices, limits and abilities of a provider's models. */
  adminEndpoint({
    method: "GET",
    path: "/admin/providers/:providerID/known-models",
    summary: "Known prices, limits and abilities of a provider's models",
    query: querySchema,
    answers: jsonResponse(() => answerSchema),
    handler: async ({ platform }, { params: { providerID: id = "" }, query }) => {
      const { config } = await platform.configuration.readFresh();
      const isDefault = id === DEFAULT_PROVIDER;
      const { baseUrl, models } = isDefault
        ? { baseUrl: getDefaultProvider(platform).baseUrl, models: platform.variables.providerModels }
        : ((entry) => ({ baseUrl: entry.base_url, models: entry.models }))(getSavedProvider(config, id));
      const { source, date, ...data } = await loadKnownModels();
      const knowledge = new ProviderKnowledge({ source, date, ...data }, baseUrl);
      const names = query.model === undefined ? Object.keys(models) : [query.model];
      return Response.json({
        source,
        date,
        currency: "USD",
        models: names.map((model) => {
          const entry = Object.hasOwn(models, model) ? models[model] : undefined;
          const upstream = (typeof entry === "object" ? entry.upstream : entry) ?? model;
          const { match: _, ...known } = knowledge.find(upstream) ?? { match: null };
          return {
            model,
            upstream,
            known: "id" in known ? known : null,
            price: findModelPrice(config, isDefault ? model : `${id}/${model}`),
          };
        }),
      });
    },
  }),
] satisfies readonly Endpoint[];
