import {
  assertDialectAllowed,
  assertModelAllowed,
  assertNoModelList,
  hasModelList,
  isModelAllowed,
} from "../../core/auth/access-rules.ts";
import type { Caller } from "../../core/auth/callers.ts";
import { estimateTokens, maxPlausibleTokens } from "../../core/conversation/tokens.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { FALLBACK_HEADER } from "../../core/routing/control-headers.ts";
import { countRequest } from "../../pool/limits/limited-use.ts";
import type { RequestControls } from "../generation/preparation/parse-request-controls.ts";
import { readRequestControls } from "../generation/preparation/request-controls.ts";
import { assertNoGuardrails } from "../guardrails/unchecked-endpoints.ts";
import { EMBEDDING_DIMENSIONS } from "../models/embedding-models.ts";
import type { EmbeddingInput, EmbeddingRequest, Vectors } from "./embedding-request.ts";
import { embedUpstream, selectEmbedder } from "./upstream.ts";
import { embedTokens, tokenizeText } from "./vectors.ts";

/** Maximum number of inputs of one request, and maximum number of dimensions of a vector. */
export const MAX_INPUTS = 2048;
export const MAX_DIMENSIONS = 4096;
/** Number of dimensions if neither the request nor the model defines it. */
const DEFAULT_DIMENSIONS = 1536;
/** Maximum total of numbers in all vectors of an answer: each takes 20 bytes as JSON, and an isolate has 128 MB. */
const MAX_VECTOR_NUMBERS = 1024 * DEFAULT_DIMENSIONS;
/** Maximum total of tokens in all inputs of a request. */
const MAX_TOKENS = 300_000;

function toTokens(input: EmbeddingInput): readonly string[] {
  return typeof input === "string" ? tokenizeText(input) : input.map((token) => `#${token}`);
}

/** Computes the vectors one at a time, because the tokens of all inputs together would take much memory. */
function* embedLocally(inputs: readonly EmbeddingInput[], dimensions: number): Generator<Float64Array> {
  for (const input of inputs) yield embedTokens(toTokens(input), dimensions);
}

/**
 * Rejects a request that would need too much memory or time.
 *
 * @throws GatewayError 400
 */
function assertWithinLimits(field: string, numbers: number, tokens: number): void {
  if (numbers > MAX_VECTOR_NUMBERS) {
    throw invalidRequest(
      `${field}: inputs times dimensions may be at most ${MAX_VECTOR_NUMBERS}: send fewer inputs`,
      field,
    );
  }
  if (tokens > MAX_TOKENS) {
    throw invalidRequest(`${field}: the inputs may have at most ${MAX_TOKENS} tokens in all`, field);
  }
}

/** Creates the 501 for a missing or unsupported `embeddings.provider` (docs/contract/other-endpoints.md). */
function notConfiguredError(provider: string): GatewayError {
  const problem =
    provider === ""
      ? "no embeddings provider is configured"
      : `embeddings provider ${provider} is not supported`;
  const advice =
    "set embeddings.provider to upstream (the embeddings of the model's provider) or builtin (vectors that the gateway computes from words), on the console's page Settings or with PUT /admin/settings";
  return new GatewayError(501, `${problem}: ${advice}`, { code: "embeddings_not_configured" });
}

/** Returns the model's usual number of dimensions. Ignores a path before the name and a tag after it. */
function getDefaultDimensions(requested: string): number {
  const name = requested.toLowerCase().split("/").at(-1) ?? "";
  const untaggedName = name.split(":")[0] ?? "";
  return EMBEDDING_DIMENSIONS.get(name) ?? EMBEDDING_DIMENSIONS.get(untaggedName) ?? DEFAULT_DIMENSIONS;
}

/**
 * Reads what the caller sets with headers.
 *
 * @throws GatewayError 400 for bad values, and for fallback models
 */
async function readControls(headers: Headers): Promise<RequestControls> {
  const controls = await readRequestControls(headers);
  if (controls.fallbackNames.length === 0) return controls;
  const message = `${FALLBACK_HEADER}: vectors of another model cannot be compared with those of this one`;
  throw invalidRequest(message, FALLBACK_HEADER);
}

/** Throws if the caller's key does not allow this style or model. */
function assertAllowedByKey({ context, style, model }: EmbeddingRequest, caller: Caller): void {
  assertDialectAllowed(caller.key?.entry, style);
  assertModelAllowed(caller, context.requestLimits, model);
}

/** Throws 403 if the body, which may go to the provider as it is, names further models that the key does not allow. */
function assertNoOtherModels({ caller, context, namesOtherModels }: EmbeddingRequest): void {
  const { requestLimits } = context;
  if (!hasModelList(caller, requestLimits)) return;
  const isAllowed = (name: unknown) =>
    typeof name === "string" && isModelAllowed(caller, requestLimits, { requested: name, id: name });
  if (namesOtherModels?.(isAllowed) === true) assertNoModelList(caller, requestLimits);
}

/** How a request is embedded. */
interface EmbeddingPlan {
  readonly embedder: "local" | "upstream";
  readonly controls: RequestControls;
  readonly dimensions: number;
  /** The estimated tokens of all inputs. */
  readonly tokens: number;
}

/**
 * Checks a request, and decides whether inputs are embedded locally or at the model's provider, as
 * `embeddings.provider` defines.
 *
 * @throws GatewayError 403 if the caller's key does not allow the request, 501 if `embeddings.provider` is missing or
 * unsupported, and 400 if the request is too large
 */
export async function planEmbedding(request: EmbeddingRequest): Promise<EmbeddingPlan> {
  const { context, model, inputs, field } = request;
  const { facts } = context;
  facts.dialect = request.style;
  facts.operation = "embeddings";
  facts.model = model.id;
  facts.requestedModel = model.requested;
  const controls = await readControls(context.request.headers);
  await assertNoGuardrails(context, request.caller);
  assertAllowedByKey(request, request.caller);
  const { provider } = (await context.config()).config.embeddings;
  const embedder = selectEmbedder(provider, model);
  if (embedder === null) throw notConfiguredError(provider);
  if (embedder === "local") request.assertPlainInputs?.();
  else assertNoOtherModels(request);
  const dimensions = request.dimensions ?? getDefaultDimensions(model.requested);
  const tokens = inputs.reduce(
    (sum, input) => sum + (typeof input === "string" ? estimateTokens(input) : input.length),
    0,
  );
  assertWithinLimits(field, inputs.length * dimensions, tokens);
  return { embedder, controls, dimensions, tokens };
}

/**
 * Embeds the inputs of a request.
 *
 * @throws GatewayError 429 if a limit of the caller's key is reached, and the errors of the provider
 */
export async function computeVectors(
  request: EmbeddingRequest,
  { embedder, controls, dimensions, tokens }: EmbeddingPlan,
): Promise<Vectors> {
  const { context, inputs } = request;
  const { facts } = context;
  const expected = () => ({ prompt: tokens, answer: 0 });
  if (embedder === "local") {
    await countRequest(context, request.caller, expected);
    facts.promptTokens = tokens;
    return { vectors: embedLocally(inputs, dimensions), tokens, answer: null };
  }
  const { vectors, answer, tokens: reportedTokens } = await embedUpstream(request, expected, controls);
  const characters = inputs.reduce((sum, input) => sum + input.length, 0);
  const isPlausible = reportedTokens <= maxPlausibleTokens(characters);
  if (!isPlausible) facts.usageRefused = true;
  facts.promptTokens = isPlausible && reportedTokens > 0 ? reportedTokens : tokens;
  return { vectors, tokens: facts.promptTokens, answer };
}
