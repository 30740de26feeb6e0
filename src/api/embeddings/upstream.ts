import { abortWith, withAccount } from "../../accounts/with-account.ts";
import type { Caller } from "../../auth/callers.ts";
import type { ResolvedModel } from "../../conversation/model.ts";
import { GatewayError, invalidRequest } from "../../errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../errors/provider-error.ts";
import type { Context } from "../../platform/context.ts";
import { providerOf } from "../../provider/of-platform.ts";
import { Patience } from "../files/patience.ts";

/** What of a request the provider needs. */
export interface EmbeddingsWish {
  readonly input: string | readonly (string | number | readonly number[])[];
  readonly dimensions?: number | null | undefined;
}

/** The inputs as texts. Throws 400 for tokens: they are those of another tokenizer. */
function textsOf(input: EmbeddingsWish["input"]): string[] {
  if (typeof input === "string") return [input];
  return input.map((entry) => {
    if (typeof entry === "string") return entry;
    throw invalidRequest("input: the provider embeds texts, not tokens", "input");
  });
}

/**
 * Vectors that the provider computes, on behalf of one of its accounts.
 *
 * @throws GatewayError 501 where its protocol has no embeddings, 400 for inputs that it cannot take, and what it says.
 */
export async function upstreamVectors(
  context: Context,
  caller: Caller,
  model: ResolvedModel,
  { input, dimensions }: EmbeddingsWish,
): Promise<{ readonly vectors: Iterable<ArrayLike<number> & Iterable<number>>; readonly tokens: number }> {
  const { embeddings } = providerOf(context.platform);
  if (embeddings === undefined) {
    throw new GatewayError(501, "this provider has no embeddings: set embeddings.provider to builtin", {
      code: "embeddings_not_configured",
    });
  }
  const wish = {
    // The name as the caller wrote it: backends have models for embeddings alone, which no canonical id stands for.
    model: model.requested,
    input: textsOf(input),
    ...(typeof dimensions === "number" ? { dimensions } : {}),
  };
  const { abort } = abortWith(context.request);
  const patience = new Patience(context.platform.variables.firstByteTimeoutMs, abort);
  try {
    return await withAccount(
      { context, caller, model: model.id, dialect: "embeddings", abort, mayRepeat: () => true },
      async (session) => {
        patience.renew();
        try {
          return await session.call((account) => embeddings.embed(account, wish, abort.signal));
        } finally {
          patience.end();
        }
      },
    );
  } catch (error) {
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  }
}
