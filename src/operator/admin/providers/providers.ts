import * as z from "zod";
import { DEFAULT_PROVIDER } from "../../../core/config/provider-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import {
  type ProviderEntry,
  providerModelSchema,
  providerSchema,
} from "../../../core/config/schemas/provider-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { parseWith } from "../../../core/http/json-body.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { formatSubject } from "../../../core/ports/subject-limits.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { needsNoAccount } from "../../../gateway/providers/drivers.ts";
import { successSchema } from "../answers.ts";
import { addEntry, changeEntry, deleteEntry, type EntryList } from "../editing/entry-list.ts";
import { ENTRY_HEADERS, entryResponse, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { readLimitUse, usedSchema, usedView } from "../keys/limit-use.ts";
import { cacheRequestSchema, limitsRequestSchema } from "../keys/subject-fields.ts";
import { priceRequestSchema } from "../models/price-request.ts";
import { listUnservedModels } from "../models/unpriced-models.ts";
import { providerHealthSchema, readProviderHealth } from "../monitoring/provider-health.ts";
import { rejectUnknownFields, requestObject, unknownFieldInUnion } from "../request-fields.ts";
import { idTakenError, requireFound } from "../resource-errors.ts";
import { defaultProviderView, mergeHeaders, providerView, providerViewSchema } from "./provider-view.ts";

/**
 * Request schema of a provider's models. {@link rejectUnknownModelFields} checks the fields, because it needs the stored
 * models.
 */
const modelsRequestSchema = once(() =>
  z.record(
    z.string(),
    z.union(
      [z.string().trim().min(1), providerModelSchema.extend({ price: priceRequestSchema().optional() })],
      {
        error: unknownFieldInUnion,
      },
    ),
  ),
);

/**
 * Rejects unknown fields of a model. Fields that the stored model has are allowed, even if this version does not know them.
 */
function rejectUnknownModelFields(sent: ProviderEntry["models"], present: ProviderEntry["models"]): void {
  const known = Object.keys(providerModelSchema.shape);
  for (const [name, model] of Object.entries(sent)) {
    if (typeof model === "string") continue;
    const stored = Object.hasOwn(present, name) ? present[name] : undefined;
    rejectUnknownFields(
      model,
      known,
      `models.${name}`,
      typeof stored === "object" ? Object.keys(stored) : [],
    );
  }
}

/** Body of `PUT /admin/providers/{providerID}`. Omitted fields keep their values, and so does an empty token. */
const providerChangeShape = () => ({
  name: providerSchema.shape.name.unwrap().optional(),
  driver: providerSchema.shape.driver.optional(),
  base_url: providerSchema.shape.base_url.optional(),
  token: providerSchema.shape.token.unwrap().optional(),
  models: modelsRequestSchema().optional(),
  tool_calls: providerSchema.shape.tool_calls.unwrap().optional(),
  whole_answers: providerSchema.shape.whole_answers.unwrap().optional(),
  native: providerSchema.shape.native.unwrap().optional(),
  drop_params: providerSchema.shape.drop_params.unwrap().optional(),
  proxy_id: providerSchema.shape.proxy_id.unwrap().optional(),
  api_version: providerSchema.shape.api_version.unwrap().optional(),
  key_header: providerSchema.shape.key_header.unwrap().optional(),
  trace_context: providerSchema.shape.trace_context,
  pipe_streams: providerSchema.shape.pipe_streams,
  active_probes: providerSchema.shape.active_probes,
  headers: providerSchema.shape.headers.unwrap().optional(),
  account_max_inflight: providerSchema.shape.account_max_inflight.unwrap().optional(),
  limits: limitsRequestSchema().optional(),
  cache: cacheRequestSchema().optional(),
  /** Null: the accounts have limits again. */
  max_concurrent: providerSchema.shape.max_concurrent.nullable(),
  strategy: providerSchema.shape.strategy,
  affinity_wait_ms: providerSchema.shape.affinity_wait_ms.unwrap().optional(),
  first_byte_timeout_ms: providerSchema.shape.first_byte_timeout_ms.unwrap().optional(),
  answer_timeout_ms: providerSchema.shape.answer_timeout_ms.unwrap().optional(),
  idle_timeout_ms: providerSchema.shape.idle_timeout_ms.unwrap().optional(),
  models_refresh_hours: providerSchema.shape.models_refresh_hours.unwrap().optional(),
  new_models: providerSchema.shape.new_models.unwrap().optional(),
  enabled: providerSchema.shape.enabled.unwrap().optional(),
});
const providerChangeSchema = requestObject(providerChangeShape, () => listedProviderSchema());

/** Body of `POST /admin/providers`. */
const newProviderSchema = requestObject(
  () => ({
    ...providerSchema.shape,
    models: modelsRequestSchema().default({}),
    limits: limitsRequestSchema().optional(),
    cache: cacheRequestSchema().optional(),
    max_concurrent: providerSchema.shape.max_concurrent.nullable(),
  }),
  () => listedProviderSchema(),
);

/** `max_concurrent` of a new provider that names none: no limit, unless its accounts sign in or it names a limit. */
function selectInitialLimit({ driver, account_max_inflight }: z.output<typeof newProviderSchema>): 0 | null {
  return needsNoAccount(driver) && account_max_inflight === 0 ? 0 : null;
}

/** Returns a configured provider. Throws 404 for an unknown id, 409 for the provider of the environment variables. */
export function getSavedProvider({ providers }: Pick<Config, "providers">, id: string): ProviderEntry {
  if (id === DEFAULT_PROVIDER) {
    throw new GatewayError(
      409,
      "this provider is set by the deployment's variables: change PROVIDER_BASE_URL and its companions, or default_provider of the settings for its limits and cache",
      {
        code: "invalid_request",
      },
    );
  }
  return requireFound(
    providers.find((provider) => provider.id === id),
    "the provider",
    id,
  );
}

const CONFIGURED_PROVIDERS: EntryList<ProviderEntry> = {
  read: ({ providers }) => providers,
  write: (config, providers) => ({ ...config, providers }),
  getId: ({ id }) => id,
  find: getSavedProvider,
  createConflict: (id) => idTakenError("a provider", id),
  ignoresCase: true,
};

function applyProviderChange(
  entry: ProviderEntry,
  body: z.output<typeof providerChangeSchema>,
): ProviderEntry {
  // Ignore fields of the view that a client sent back.
  const names = Object.keys(providerChangeShape());
  const changes = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== undefined && names.includes(name)),
  );
  rejectUnknownModelFields(body.models ?? {}, entry.models);
  const { max_concurrent = entry.max_concurrent ?? null } = body;
  const { max_concurrent: _, ...kept } = { ...entry, ...changes };
  return {
    ...kept,
    ...(max_concurrent === null ? {} : { max_concurrent }),
    token: body.token || entry.token,
    headers: body.headers === undefined ? entry.headers : mergeHeaders(body.headers, entry.headers),
  };
}

/** A provider in the list, with its health, the use of its limits and the result of its last scheduled model refresh. */
const listedProviderSchema = () =>
  providerViewSchema().extend({
    ...providerHealthSchema().shape,
    used: usedSchema(),
    models_asked: z.object({ at: z.int(), error: z.string(), added: z.int() }).nullable(),
  });

type ListedProvider = z.output<ReturnType<typeof listedProviderSchema>>;

/** The masked providers with their live values, the default one first. */
async function listProviders(platform: Platform, config: Config): Promise<ListedProvider[]> {
  const refreshes = config.providers.some(({ models_refresh_hours }) => models_refresh_hours > 0)
    ? await platform.administration.getModelSyncResults()
    : {};
  const defaultProvider = defaultProviderView(platform, config);
  const views = config.providers.map((entry) => providerView(config, entry));
  if (defaultProvider !== null) views.unshift(defaultProvider);
  const status = await platform.accounts.getStatus(0);
  const limitUse = await readLimitUse(platform, views);
  return views.map((view) => ({
    ...view,
    ...readProviderHealth(status, view.id),
    used: usedView(limitUse.get(formatSubject("provider", view.id))),
    models_asked: (Object.hasOwn(refreshes, view.id) ? refreshes[view.id] : null) ?? null,
  }));
}

/** The response with a configured provider and its entity tag. */
export function providerResponse(config: Config, id: string): Promise<Response> {
  const entry = getSavedProvider(config, id);
  return entryResponse(config, entry, providerView(config, entry));
}

/** Providers of the configuration. The default provider comes from environment variables. */
export const PROVIDER_ENDPOINTS = [
  /** `GET /admin/providers`: the default provider first. */
  adminEndpoint({
    method: "GET",
    path: "/admin/providers",
    summary: "List the providers",
    answers: jsonResponse(() =>
      z.object({
        items: z.array(listedProviderSchema()),
        total: z.int(),
        /** Names that `GET /v1/models` lists although no provider serves them. */
        unserved_models: z.array(z.string()),
      }),
    ),
    handler: async ({ platform }) => {
      const { config } = await platform.configuration.readFresh();
      const items = await listProviders(platform, config);
      const unserved_models = listUnservedModels(config, platform);
      return Response.json({ items, total: items.length, unserved_models });
    },
  }),
  /** `GET /admin/providers/{providerID}`: one provider. That of the variables has no entity tag: it cannot be edited. */
  adminEndpoint({
    method: "GET",
    path: "/admin/providers/:providerID",
    summary: "Read a provider",
    answers: jsonResponse(listedProviderSchema),
    ...ENTRY_HEADERS,
    handler: async ({ platform }, { params: { providerID: id = "" } }) => {
      const { config } = await platform.configuration.readFresh();
      const listed = await listProviders(platform, config);
      const view = requireFound(
        listed.find((provider) => provider.id === id),
        "the provider",
        id,
      );
      if (view.read_only) return Response.json(view);
      return entryResponse(config, getSavedProvider(config, id), view);
    },
  }),
  /** `POST /admin/providers`: responds with the provider. */
  adminEndpoint({
    method: "POST",
    path: "/admin/providers",
    summary: "Add a provider",
    body: newProviderSchema,
    answers: jsonResponse(providerViewSchema),
    handler: async (context, { body: sent }) => {
      rejectUnknownModelFields(sent.models, {});
      const { max_concurrent = selectInitialLimit(sent), ...fields } = sent;
      // Remove fields of the view that a client sent along.
      const body = parseWith(providerSchema.strip(), {
        ...fields,
        ...(max_concurrent === null ? {} : { max_concurrent }),
      });
      const config = await addEntry(context, CONFIGURED_PROVIDERS, body);
      return Response.json(providerView(config, getSavedProvider(config, body.id)));
    },
  }),
  /** `PUT /admin/providers/{providerID}`: responds with the provider. */
  adminEndpoint({
    method: "PUT",
    path: "/admin/providers/:providerID",
    summary: "Change a provider",
    body: providerChangeSchema,
    answers: jsonResponse(providerViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { providerID: id = "" }, body }) => {
      const change = (entry: ProviderEntry) => applyProviderChange(entry, body);
      return providerResponse(await changeEntry(context, CONFIGURED_PROVIDERS, id, change), id);
    },
  }),
  /**
   * `DELETE /admin/providers/{providerID}`: 409 while accounts belong to it. Without it they would belong to the default
   * provider.
   */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/providers/:providerID",
    summary: "Delete a provider",
    answers: jsonResponse(() => successSchema().extend({ total_providers: z.int() })),
    ...VERSION_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { providerID: id = "" } }) => {
      const assertNoAccounts = (current: Config, entry: ProviderEntry): Config => {
        const { accounts } = providerView(current, entry);
        if (accounts > 0) {
          throw new GatewayError(
            409,
            `${accounts} accounts belong to this provider: delete or move them first`,
            {
              code: "invalid_request",
            },
          );
        }
        return current;
      };
      const { total, headers } = await deleteEntry(context, CONFIGURED_PROVIDERS, id, assertNoAccounts);
      return Response.json({ success: true, total_providers: total }, { headers });
    },
  }),
] satisfies readonly Endpoint[];
