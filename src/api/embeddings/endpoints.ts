import * as z from "zod";
import { estimateTokens } from "../../conversation/tokens.ts";
import { GatewayError, invalidRequest } from "../../errors/gateway-error.ts";
import { resolveModel } from "../../models/resolve.ts";
import { forCallers, json } from "../../routing/endpoint.ts";
import { upstreamVectors } from "./upstream.ts";
import { DEFAULT_DIMENSIONS, embed, features, vectorToBase64 } from "./vectors.ts";

/** Most inputs of one request, and the longest vector. */
const MAX_INPUTS = 2048;
const MAX_DIMENSIONS = 3072;
/** Most numbers of one answer, in all its vectors: as JSON each takes 20 bytes, and an isolate has 128 MB. */
const MAX_NUMBERS = 1024 * DEFAULT_DIMENSIONS;
/** Most tokens of one request, in all its inputs. */
const MAX_TOKENS = 300_000;

/** Values of `embeddings.provider` that all name the same local, deterministic implementation (contract). */
const LOCAL: ReadonlySet<string> = new Set(["mock", "deterministic", "builtin"]);

/** The value of `embeddings.provider` that asks the provider, where its protocol has embeddings. */
const UPSTREAM = "upstream";

const tokensSchema = z.array(z.number().int().nonnegative()).min(1);

/** The body of `POST /v1/embeddings` (contract). */
const embeddingsRequestSchema = z.looseObject({
  model: z.string().min(1),
  input: z.union([
    z.string(),
    tokensSchema,
    z.array(z.string()).min(1).max(MAX_INPUTS),
    z.array(tokensSchema).min(1).max(MAX_INPUTS),
  ]),
  dimensions: z.number().int().min(1).max(MAX_DIMENSIONS).nullish(),
  encoding_format: z.enum(["float", "base64"]).nullish(),
});

type EmbeddingsInput = z.output<typeof embeddingsRequestSchema>["input"];

interface Item {
  /** Makes the tokens: those of all items at once would take much memory. */
  readonly tokens: () => readonly string[];
  readonly count: number;
}

function textItem(text: string, param: string): Item {
  if (text === "") throw invalidRequest(`${param} must not be an empty string`, param);
  return { tokens: () => features(text), count: estimateTokens(text) };
}

function tokenItem(tokens: readonly number[]): Item {
  return { tokens: () => tokens.map((token) => `#${token}`), count: tokens.length };
}

function itemsOf(input: EmbeddingsInput): Item[] {
  if (typeof input === "string") return [textItem(input, "input")];
  const single = tokensSchema.safeParse(input);
  if (single.success) return [tokenItem(single.data)];
  return input.map((entry, index) => {
    if (typeof entry === "string") return textItem(entry, `input[${index}]`);
    return tokenItem(typeof entry === "number" ? [entry] : entry);
  });
}

/** A request that would take the memory and the time of many others is refused. */
function checkEffort(numbers: number, tokens: number): void {
  if (numbers > MAX_NUMBERS) {
    throw invalidRequest(
      `input: inputs times dimensions may be at most ${MAX_NUMBERS}: send fewer inputs`,
      "input",
    );
  }
  if (tokens > MAX_TOKENS) {
    throw invalidRequest(`input: the inputs may have at most ${MAX_TOKENS} tokens in all`, "input");
  }
}

/** One vector at a time: the tokens of all items at once would take much memory. */
function* localVectors(items: readonly Item[], dimensions: number): Generator<Float64Array> {
  for (const item of items) yield embed(item.tokens(), dimensions);
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

const answerSchema = () =>
  z.object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  });

/** `POST /v1/embeddings` (contract). 501 unless `embeddings.provider` names a supported provider. */
export const createEmbeddings = forCallers({
  method: "POST",
  path: ["/v1/embeddings", "/embeddings"],
  summary: "Create embeddings",
  body: embeddingsRequestSchema,
  answers: json(answerSchema),
  handler: async (context, { caller, body }) => {
    const { config } = await context.config();
    const { provider } = config.embeddings;
    if (provider !== UPSTREAM && !LOCAL.has(provider)) throw notConfigured(provider);
    const model = resolveModel(body.model, config.model_aliases);
    const items = itemsOf(body.input);
    const dimensions = body.dimensions ?? DEFAULT_DIMENSIONS;
    const estimate = items.reduce((sum, { count }) => sum + count, 0);
    checkEffort(items.length * dimensions, estimate);
    const { vectors, tokens } =
      provider === UPSTREAM
        ? await upstreamVectors(context, caller, model, body)
        : { vectors: localVectors(items, dimensions), tokens: estimate };
    const data = Array.from(vectors, (vector, index) => ({
      object: "embedding",
      index,
      embedding: body.encoding_format === "base64" ? vectorToBase64(vector) : [...vector],
    }));
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return Response.json({ object: "list", data, model: model.id, usage });
  },
});
