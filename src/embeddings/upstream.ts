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

/** The value of `embeddings.provider` that asks the provider, where its protocol has embeddings. */
export const UPSTREAM = "upstream";

/** The inputs as texts. Throws 400 for tokens: they are those of another tokenizer. */
function textsOf({ inputs, field }: EmbeddingWish): string[] {
  return inputs.map((input) => {
    if (typeof input === "string") return input;
    throw invalidRequest(`${field}: the provider embeds texts, not tokens`, field);
  });
}

/**
 * Vectors that the provider computes, on behalf of one of its accounts.
 *
 * @throws GatewayError 501 where its protocol has no embeddings, 400 for inputs that it cannot take, and what it says.
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
    // The name as the caller wrote it: backends have models for embeddings alone, which no canonical id stands for.
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
          // The operator may have stopped just this: that texts go there.
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
