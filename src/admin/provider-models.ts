import * as z from "zod";
import { GatewayError } from "../errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../errors/provider-error.ts";
import { providerOf } from "../provider/of-platform.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { onAccount } from "./account-call.ts";

const modelsSchema = () => z.object({ driver: z.string(), models: z.array(z.string()) });

export const PROVIDER_MODEL_ENDPOINTS: readonly Endpoint[] = [
  /**
   * `GET /admin/provider/models`: the names of the models that the provider offers, as it calls them: what `PROVIDER_MODELS`
   * may lead to. 501 where its protocol has no such list.
   */
  forAdministrators({
    method: "GET",
    path: "/admin/provider/models",
    summary: "Models that the provider offers",
    answers: json(modelsSchema),
    handler: async (context) => {
      const { models } = providerOf(context.platform);
      if (models === undefined) {
        throw new GatewayError(501, "this provider does not list its models", { code: "unsupported" });
      }
      try {
        const names = await onAccount(context, null, "", (account, signal) => models.list(account, signal));
        return Response.json({ driver: context.platform.variables.providerDriver, models: names });
      } catch (error) {
        throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
      }
    },
  }),
];
