import { type Caller, readmitted } from "../auth/callers.ts";
import { estimateTokens, mostTokens } from "../conversation/tokens.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { checkDialect, checkModel } from "../limits/allowed.ts";
import { countRequest } from "../limits/quota.ts";
import { EMBEDDING_DIMENSIONS } from "../models/embedding-models.ts";
import { UPSTREAM, upstreamVectors } from "./upstream.ts";
import { embed, features } from "./vectors.ts";
import type { EmbeddingInput, EmbeddingWish, Vectors } from "./wish.ts";

/** Maximum number of inputs of one request, and maximum number of dimensions of a vector. */
export const MAX_INPUTS = 2048;
export const MAX_DIMENSIONS = 4096;
/** Number of dimensions if neither the request nor the model defines it. */
const DEFAULT_DIMENSIONS = 1536;
/** Maximum total of numbers in all vectors of an answer: each takes 20 bytes as JSON, and an isolate has 128 MB. */
const MAX_NUMBERS = 1024 * DEFAULT_DIMENSIONS;
/** Maximum total of tokens in all inputs of a request. */
const MAX_TOKENS = 300_000;

/** Values of `embeddings.provider` that select the local, deterministic implementation (contract). */
const LOCAL: ReadonlySet<string> = new Set(["mock", "deterministic", "builtin"]);

function tokensOf(input: EmbeddingInput): readonly string[] {
  return typeof input === "string" ? features(input) : input.map((token) => `#${token}`);
}

/** Computes the vectors one at a time, because the tokens of all inputs together would take much memory. */
function* localVectors(inputs: readonly EmbeddingInput[], dimensions: number): Generator<Float64Array> {
  for (const input of inputs) yield embed(tokensOf(input), dimensions);
}

/**
 * Rejects a request that would need too much memory or time.
 *
 * @throws GatewayError 400
 */
function checkEffort(field: string, numbers: number, tokens: number): void {
  if (numbers > MAX_NUMBERS) {
    throw invalidRequest(
      `${field}: inputs times dimensions may be at most ${MAX_NUMBERS}: send fewer inputs`,
      field,
    );
  }
  if (tokens > MAX_TOKENS) {
    throw invalidRequest(`${field}: the inputs may have at most ${MAX_TOKENS} tokens in all`, field);
  }
}

/** Creates the 501 for a missing or unsupported `embeddings.provider` (contract). */
function notConfigured(provider: string): GatewayError {
  const what =
    provider === ""
      ? "no embeddings provider is configured"
      : `embeddings provider ${provider} is not supported`;
  return new GatewayError(501, `${what}: set embeddings.provider to builtin`, {
    code: "embeddings_not_configured",
  });
}

/** Returns the model's usual number of dimensions. Ignores a path before the name and a tag after it. */
function usualDimensions(requested: string): number {
  const name = requested.toLowerCase().split("/").at(-1) ?? "";
  const bare = name.split(":")[0] ?? "";
  return EMBEDDING_DIMENSIONS.get(name) ?? EMBEDDING_DIMENSIONS.get(bare) ?? DEFAULT_DIMENSIONS;
}

/** Throws if the caller's key does not allow this style or model. */
function checkScope({ style, model }: EmbeddingWish, { key }: Caller): void {
  checkDialect(key?.entry, style);
  checkModel(key?.entry, model);
}

/**
 * Returns `embeddings.provider`. Local embeddings use no account, so no later step checks that the configuration is
 * current; therefore this function checks it.
 */
async function confirmedProvider(wish: EmbeddingWish): Promise<string> {
  const { context, caller } = wish;
  const known = (await context.config()).config.embeddings.provider;
  if (known === UPSTREAM || !(await context.confirmConfig())) return known;
  checkScope(wish, await readmitted(context, caller));
  return (await context.config()).config.embeddings.provider;
}

/**
 * Embeds inputs locally or at the provider, as `embeddings.provider` defines.
 *
 * @throws GatewayError 403 or 429 if the caller's key does not allow the request, 501 if `embeddings.provider` is missing
 * or unsupported, 400 if the request is too large, and the errors of the provider.
 */
export async function vectorsOf(wish: EmbeddingWish): Promise<Vectors> {
  const { context, model, inputs, field } = wish;
  const { log } = context;
  log.dialect = wish.style;
  log.operation = "embeddings";
  log.model = model.id;
  log.requestedModel = model.requested;
  checkScope(wish, wish.caller);
  const provider = await confirmedProvider(wish);
  if (provider !== UPSTREAM && !LOCAL.has(provider)) throw notConfigured(provider);
  const dimensions = wish.dimensions ?? usualDimensions(model.requested);
  const tokens = inputs.reduce(
    (sum, input) => sum + (typeof input === "string" ? estimateTokens(input) : input.length),
    0,
  );
  checkEffort(field, inputs.length * dimensions, tokens);
  const expected = () => ({ prompt: tokens, answer: 0 });
  if (provider !== UPSTREAM) {
    await countRequest(context, wish.caller, expected);
    log.promptTokens = tokens;
    return { vectors: localVectors(inputs, dimensions), tokens };
  }
  const { vectors, tokens: stated } = await upstreamVectors(wish, expected);
  const characters = inputs.reduce((sum, input) => sum + input.length, 0);
  const isPlausible = stated <= mostTokens(characters);
  if (!isPlausible) log.usageRefused = true;
  log.promptTokens = isPlausible && stated > 0 ? stated : tokens;
  return { vectors, tokens: log.promptTokens };
}
