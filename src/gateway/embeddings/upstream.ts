import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect } from "../../core/http/client-disconnect.ts";
import type { ExpectedTokens } from "../../pool/limits/key-quota.ts";
import { assertModelAllowed } from "../../pool/limits/key-scope.ts";
import { AttemptTimeout } from "../accounts/attempt-timeout.ts";
import { settingsChangedError } from "../accounts/authorization-recheck.ts";
import { withAccount } from "../accounts/with-account.ts";
import { getProvider } from "../providers/provider-registry.ts";
import type { EmbeddingRequest, Vectors } from "./embedding-request.ts";

/** The value of `embeddings.provider` that selects the provider's own embeddings. */
export const UPSTREAM_PROVIDER = "upstream";

/**
 * Returns the inputs as texts.
 *
 * @throws GatewayError 400 for tokens, because they belong to another tokenizer.
 */
function requireTexts({ inputs, field }: EmbeddingRequest): string[] {
  return inputs.map((input) => {
    if (typeof input === "string") return input;
    throw invalidRequest(`${field}: the provider embeds texts, not tokens`, field);
  });
}

/**
 * Embeds inputs at the provider, with one of its accounts.
 *
 * @throws GatewayError 501 if its protocol has no embeddings, 400 for inputs that it does not support, and the errors of
 * the provider.
 */
export async function embedUpstream(
  request: EmbeddingRequest,
  expected: () => ExpectedTokens,
): Promise<Vectors> {
  const { context, caller, model, dimensions, style } = request;
  const { config } = await context.config();
  const provider = getProvider(context.platform, config, model.provider);
  const { embeddings } = provider.api;
  if (embeddings === undefined) {
    throw new GatewayError(501, "this provider has no embeddings: set embeddings.provider to builtin", {
      code: "embeddings_not_configured",
    });
  }
  const payload = {
    // Use the requested name: backends have embedding models that no canonical id covers.
    model: model.provider === undefined ? model.requested : model.upstream,
    input: requireTexts(request),
    ...(dimensions === null ? {} : { dimensions }),
  };
  context.log.model = payload.model;
  if (provider.id !== "") context.log.provider = provider.id;
  const { abort, stop } = abortOnDisconnect(context.request);
  try {
    return await withAccount(
      {
        context,
        caller,
        provider,
        model: model.id,
        dialect: style,
        abort,
        estimateUsage: expected,
        assertPermitted: (key, newest) => {
          assertModelAllowed(key, model);
          // An administrator may just have disabled exactly this: sending texts to the provider.
          if (newest.embeddings.provider !== UPSTREAM_PROVIDER) throw settingsChangedError();
        },
        canRetry: () => true,
      },
      (session) =>
        session.runWithToken(async (account) => {
          const attemptTimeout = new AttemptTimeout(provider.timeouts.firstByteTimeoutMs, abort.signal);
          attemptTimeout.restart();
          try {
            return await embeddings.embed(account, payload, attemptTimeout.signal);
          } finally {
            attemptTimeout.stop();
          }
        }),
    );
  } catch (error) {
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    stop();
  }
}
