import { type Caller, readmitted } from "../auth/callers.ts";
import { estimateTokens, mostTokens } from "../conversation/tokens.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { checkDialect, checkModel } from "../limits/allowed.ts";
import { countRequest } from "../limits/quota.ts";
import { EMBEDDING_DIMENSIONS } from "../models/embedding-models.ts";
import { UPSTREAM, upstreamVectors } from "./upstream.ts";
import { embed, features } from "./vectors.ts";
import type { EmbeddingInput, EmbeddingWish, Vectors } from "./wish.ts";

/** Most inputs of one request, and the longest vector. */
export const MAX_INPUTS = 2048;
export const MAX_DIMENSIONS = 4096;
/** Dimensions of a vector where neither the request nor the model says how many. */
const DEFAULT_DIMENSIONS = 1536;
/** Most numbers of one answer, in all its vectors: as JSON each takes 20 bytes, and an isolate has 128 MB. */
const MAX_NUMBERS = 1024 * DEFAULT_DIMENSIONS;
/** Most tokens of one request, in all its inputs. */
const MAX_TOKENS = 300_000;

/** Values of `embeddings.provider` that all name the same local, deterministic implementation (contract). */
const LOCAL: ReadonlySet<string> = new Set(["mock", "deterministic", "builtin"]);

function tokensOf(input: EmbeddingInput): readonly string[] {
  return typeof input === "string" ? features(input) : input.map((token) => `#${token}`);
}

/** One vector at a time: the tokens of all inputs at once would take much memory. */
function* localVectors(inputs: readonly EmbeddingInput[], dimensions: number): Generator<Float64Array> {
  for (const input of inputs) yield embed(tokensOf(input), dimensions);
}

/** A request that would take the memory and the time of many others is refused. */
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

/** The 501 of a deployment whose `embeddings.provider` says nothing that there is (contract). */
function notConfigured(provider: string): GatewayError {
  const what =
    provider === ""
      ? "no embeddings provider is configured"
      : `embeddings provider ${provider} is not supported`;
  return new GatewayError(501, `${what}: set embeddings.provider to builtin`, {
    code: "embeddings_not_configured",
  });
}

/** The usual dimensions of the model that was asked for, whatever folder and tag the style puts around its name. */
function usualDimensions(requested: string): number {
  const name = requested.toLowerCase().split("/").at(-1) ?? "";
  const bare = name.split(":")[0] ?? "";
  return EMBEDDING_DIMENSIONS.get(name) ?? EMBEDDING_DIMENSIONS.get(bare) ?? DEFAULT_DIMENSIONS;
}

/** Throws what a caller is told whose key may not have this. */
function checkScope({ style, model }: EmbeddingWish, { key }: Caller): void {
  checkDialect(key?.entry, style);
  checkModel(key?.entry, model);
}

/** What `embeddings.provider` says. Where no account is to be asked, nobody else tells whether that is the newest: then it is looked up. */
async function confirmedProvider(wish: EmbeddingWish): Promise<string> {
  const { context, caller } = wish;
  const known = (await context.config()).config.embeddings.provider;
  if (known === UPSTREAM || !(await context.confirmConfig())) return known;
  checkScope(wish, await readmitted(context, caller));
  return (await context.config()).config.embeddings.provider;
}

/**
 * Embeds texts as `embeddings.provider` says: here, or at the provider.
 *
 * @throws GatewayError 403 or 429 for what the caller's key may not, 501 where it says nothing that there is, 400 for what would be too much, and what the provider says.
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
