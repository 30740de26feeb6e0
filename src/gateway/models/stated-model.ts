import type { Price } from "../../core/config/schemas/price-schema.ts";
import type { ProviderModel } from "../../core/config/schemas/provider-schema.ts";
import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import type { OfferedModel } from "../providers/provider.ts";
import type { ProviderKnowledge } from "./known-models.ts";

/** Members of a list's entry that hold further facts of the model. */
const NESTED = ["top_provider", "metadata", "model_info", "limits"] as const;

/** Names of the context window, in tokens. The first one that an entry has counts. */
const CONTEXT = [
  "context_length",
  "context_window",
  "max_context_length",
  "max_model_len",
  "inputTokenLimit",
  "max_input_tokens",
] as const;
/** Names of the largest answer, in tokens. */
const OUTPUT = [
  "max_completion_tokens",
  "max_output_tokens",
  "outputTokenLimit",
  "max_output_length",
  "max_tokens",
] as const;

/** Names of each price in `pricing`, and in the entry itself. */
const PRICES = {
  input: { pricing: ["prompt", "input", "input_tokens"], entry: ["input_cost_per_token"] },
  output: { pricing: ["completion", "output", "output_tokens"], entry: ["output_cost_per_token"] },
  cache_read: {
    pricing: ["input_cache_read", "cache_read", "cache_read_tokens"],
    entry: ["cache_read_input_token_cost"],
  },
  cache_write_5m: {
    pricing: ["input_cache_write", "cache_write", "cache_write_tokens"],
    entry: ["cache_creation_input_token_cost"],
  },
} as const;

/** Larger numbers are mistakes. */
const MAX_TOKENS = 1_000_000_000;
const MAX_MILLION_PRICE = 100_000;
/**
 * Some lists state dollars for a token and some for a million tokens, under the same names. No model costs 2,000 dollars for
 * a million tokens or 0.002 dollars for as many, so smaller numbers than this are prices of a token.
 */
const TOKEN_PRICE_BELOW = 0.002;

/** The entry itself and its nested members. */
const listParts = (entry: JsonObject): JsonObject[] => [
  entry,
  ...NESTED.map((name) => entry[name]).filter(isObject),
];

function readTokens(parts: readonly JsonObject[], names: readonly string[]): number | undefined {
  const values = names.flatMap((name) => parts.map((part) => part[name]));
  return values.find(
    (value): value is number =>
      Number.isSafeInteger(value) && Number(value) > 0 && Number(value) < MAX_TOKENS,
  );
}

/** The price of a million tokens; undefined for what is no price, such as the -1 of a router. */
function toMillionPrice(value: unknown): number | undefined {
  const isStated = typeof value === "number" || (typeof value === "string" && value.trim() !== "");
  const price = isStated ? Number(value) : Number.NaN;
  if (!(price >= 0 && price < MAX_MILLION_PRICE)) return undefined;
  // Without the rounding, 0.0000011 for a token would be 1.0999999999999999 for a million.
  return price < TOKEN_PRICE_BELOW ? Number((price * 1_000_000).toPrecision(10)) : price;
}

function readPrice(parts: readonly JsonObject[]): Price | undefined {
  const pricing = parts.map((part) => part["pricing"]).filter(isObject);
  const find = (kind: keyof typeof PRICES) => {
    const names = PRICES[kind];
    const values = [
      ...names.pricing.flatMap((name) => pricing.map((part) => part[name])),
      ...names.entry.flatMap((name) => parts.map((part) => part[name])),
    ];
    return values.map(toMillionPrice).find((price) => price !== undefined);
  };
  const [input, output] = [find("input"), find("output")];
  if (input === undefined || output === undefined) return undefined;
  // Lists write 0 for a cache that has no price of its own.
  const [cacheRead, cacheWrite] = [find("cache_read") || undefined, find("cache_write_5m") || undefined];
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write_5m: cacheWrite }),
  };
}

/** Reads an ability: `true`, or an object with `supported`. */
function readFlag(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  return isObject(value) && typeof value["supported"] === "boolean" ? value["supported"] : undefined;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0;

function readVision(entry: JsonObject, parts: readonly JsonObject[]): boolean | undefined {
  const architecture = isObject(entry["architecture"]) ? entry["architecture"] : {};
  const modalities = [architecture["input_modalities"], entry["input_modalities"]].find(isList);
  if (modalities !== undefined) return modalities.includes("image");
  const capabilities = isObject(entry["capabilities"]) ? entry["capabilities"] : {};
  const flags = [
    capabilities["vision"],
    capabilities["image_input"],
    ...parts.flatMap((part) => [part["supports_vision"], part["supports_image_input"]]),
  ];
  return flags.map(readFlag).find((flag) => flag !== undefined);
}

function readThinking(entry: JsonObject, parts: readonly JsonObject[]): boolean | undefined {
  const parameters = entry["supported_parameters"];
  if (isList(parameters)) return parameters.includes("reasoning") || parameters.includes("include_reasoning");
  const capabilities = isObject(entry["capabilities"]) ? entry["capabilities"] : {};
  const flags = [
    entry["thinking"],
    capabilities["thinking"],
    capabilities["reasoning"],
    ...parts.map((part) => part["supports_reasoning"]),
  ];
  return flags.map(readFlag).find((flag) => flag !== undefined);
}

/**
 * Reads what a provider's list states of a model: price in US dollars, context and abilities.
 * Vendors' names do not collide.
 */
export function readStatedModel(entry: JsonObject): ProviderModel {
  const parts = listParts(entry);
  const [context, output] = [readTokens(parts, CONTEXT), readTokens(parts, OUTPUT)];
  const [vision, thinking] = [readVision(entry, parts), readThinking(entry, parts)];
  const price = readPrice(parts);
  return {
    ...(context === undefined ? {} : { context }),
    ...(output === undefined ? {} : { output }),
    ...(vision === undefined ? {} : { vision }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(price === undefined ? {} : { price }),
  };
}

/** Known prices of reasoning, audio and searches belong to the stated price only if both are prices of the same offer. */
function joinPrices(stated: Price, known: Price | undefined): Price {
  const isSameOffer = known?.input === stated.input && known.output === stated.output;
  return isSameOffer ? { ...known, ...stated } : stated;
}

/**
 * Returns a function that describes models by name: what the provider's list states, and otherwise what is known of the
 * model; null: nothing.
 */
export function createModelDescriber(
  offered: readonly OfferedModel[],
  knowledge: ProviderKnowledge,
): (name: string) => ProviderModel | null {
  const entries = new Map(offered.map(({ name, entry }) => [name, entry]));
  return (name) => {
    const known = knowledge.describe(name);
    const stated = readStatedModel(entries.get(name) ?? {});
    const price = stated.price === undefined ? {} : { price: joinPrices(stated.price, known?.price) };
    const model = { ...known, ...stated, ...price };
    return Object.keys(model).length === 0 ? null : model;
  };
}
