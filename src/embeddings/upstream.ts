import { Patience } from "../accounts/patience.ts";
import { justChanged } from "../accounts/readmission.ts";
import { withAccount } from "../accounts/with-account.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../errors/provider-error.ts";
import { abortWith } from "../http/departure.ts";
import { checkModel } from "../limits/allowed.ts";
import type { Expected } from "../limits/quota.ts";
import { providerNamed } from "../provider/of-platform.ts";
import type { EmbeddingWish, Vectors } from "./wish.ts";

/** The value of `embeddings.provider` that selects the provider's own embeddings. */
export const UPSTREAM = "upstream";

/**
 * Returns the inputs as texts.
 *
 * @throws GatewayError 400 for tokens, because they belong to another tokenizer.
 */
function textsOf({ inputs, field }: EmbeddingWish): string[] {
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
export async function upstreamVectors(wish: EmbeddingWish, expected: () => Expected): Promise<Vectors> {
  const { context, caller, model, dimensions, style } = wish;
  const { config } = await context.config();
  const provider = providerNamed(context.platform, config, model.provider);
  const { embeddings } = provider.api;
  if (embeddings === undefined) {
    throw new GatewayError(501, "this provider has no embeddings: set embeddings.provider to builtin", {
      code: "embeddings_not_configured",
    });
  }
  const asked = {
    // Use the requested name: backends have embedding models that no canonical id covers.
    model: model.provider === undefined ? model.requested : model.upstream,
    input: textsOf(wish),
    ...(dimensions === null ? {} : { dimensions }),
  };
  context.log.model = asked.model;
  if (provider.id !== "") context.log.provider = provider.id;
  const { abort, stop } = abortWith(context.request);
  try {
    return await withAccount(
      {
        context,
        caller,
        provider,
        model: model.id,
        dialect: style,
        abort,
        expected,
        permits: (key, newest) => {
          checkModel(key, model);
          // An administrator may just have disabled exactly this: sending texts to the provider.
          if (newest.embeddings.provider !== UPSTREAM) throw justChanged();
        },
        mayRepeat: () => true,
      },
      (session) =>
        session.call(async (account) => {
          const patience = new Patience(provider.patience.firstByteTimeoutMs, abort.signal);
          patience.renew();
          try {
            return await embeddings.embed(account, asked, patience.signal);
          } finally {
            patience.end();
          }
        }),
    );
  } catch (error) {
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    stop();
  }
}
