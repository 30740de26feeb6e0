import * as z from "zod";
import { DEFAULT_PROVIDER } from "../config/schema.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../errors/provider-error.ts";
import type { Context } from "../platform/context.ts";
import { type NamedProvider, ownProvider, providerNamed } from "../provider/of-platform.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { onProvider } from "./account-call.ts";
import { edit } from "./edit.ts";
import { providerView, providerViewSchema } from "./provider-view.ts";
import { savedProvider } from "./providers.ts";

const modelsSchema = () => z.object({ driver: z.string(), models: z.array(z.string()) });

/** The names of the models that a provider offers, as it calls them. Throws 501 where its protocol has no such list. */
async function offered(context: Context, provider: NamedProvider): Promise<readonly string[]> {
  const { models } = provider.api;
  if (models === undefined) {
    throw new GatewayError(501, "this provider does not list its models", { code: "unsupported" });
  }
  try {
    return await onProvider(context, provider, null, "", (account, signal) => models.list(account, signal));
  } catch (error) {
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  }
}

async function providerAt(context: Context, id: string): Promise<NamedProvider> {
  const { config } = await context.platform.configuration.readFresh();
  if (id === DEFAULT_PROVIDER) return ownProvider(context.platform);
  return providerNamed(context.platform, config, savedProvider(config, id).id);
}

/** `POST /admin/providers/{providerID}/models`: those to add; all that it offers unless given. */
const addedSchema = z.strictObject({ models: z.array(z.string().trim().min(1)).max(1_000).optional() });

export const PROVIDER_MODEL_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/provider/models`: what `PROVIDER_MODELS` may lead to. */
  forAdministrators({
    method: "GET",
    path: "/admin/provider/models",
    summary: "Models that the provider offers",
    answers: json(modelsSchema),
    handler: async (context) => {
      const provider = ownProvider(context.platform);
      return Response.json({ driver: provider.driver, models: await offered(context, provider) });
    },
  }),
  /** `GET /admin/providers/{providerID}/models`: the same of any provider. */
  forAdministrators({
    method: "GET",
    path: "/admin/providers/:providerID/models",
    summary: "Models that a provider offers",
    answers: json(modelsSchema),
    handler: async (context, { params: { providerID: id = "" } }) => {
      const provider = await providerAt(context, id);
      return Response.json({ driver: provider.driver, models: await offered(context, provider) });
    },
  }),
  /** `POST /admin/providers/{providerID}/models`: adds models to those that are listed, and answers the provider. */
  forAdministrators({
    method: "POST",
    path: "/admin/providers/:providerID/models",
    summary: "List a provider's models",
    body: addedSchema,
    optionalBody: true,
    answers: json(providerViewSchema),
    handler: async (context, { params: { providerID: id = "" }, body }) => {
      const { config: present } = await context.platform.configuration.readFresh();
      savedProvider(present, id);
      const names = body.models ?? (await offered(context, await providerAt(context, id)));
      const { config } = await edit(context, (current) => {
        const { models } = savedProvider(current, id);
        const led = new Set(Object.values(models));
        const added = names.filter((name) => !Object.hasOwn(models, name) && !led.has(name));
        const all = { ...models, ...Object.fromEntries(added.map((name) => [name, name])) };
        const providers = current.providers.map((entry) =>
          entry.id === id ? { ...entry, models: all } : entry,
        );
        return { ...current, providers };
      });
      return Response.json(providerView(config, savedProvider(config, id)));
    },
  }),
];
