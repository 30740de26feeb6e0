import { type Alias, FLASH, toAliases } from "./alias.ts";
import { NO_THINKING_SUFFIX } from "./catalogue.ts";
import { EMBEDDING_DIMENSIONS } from "./embedding-models.ts";
import { toFamilyAliases, UNVERSIONED_ALIASES } from "./message-model-aliases.ts";
import { RUNNER_NAMES } from "./runner-model-aliases.ts";
import { VENDORS } from "./vendor-model-aliases.ts";

/** Returns a vendor's names alone and with each of its prefixes: `gpt-5`, `openai/gpt-5`. */
function withPrefixes(names: readonly Alias[], prefixes: readonly string[]): Alias[] {
  return ["", ...prefixes.map((prefix) => `${prefix}/`)].flatMap((prefix) =>
    names.map(([name, target]) => [prefix + name, target] as const),
  );
}

/** The built-in aliases, from requested name to canonical id. Configured aliases are added and take precedence. */
export const DEFAULT_ALIASES: ReadonlyMap<string, string> = new Map([
  // The setting `embeddings.provider` decides who computes embeddings. The names must only resolve to any model.
  ...toAliases(FLASH, ...EMBEDDING_DIMENSIONS.keys()),
  ...RUNNER_NAMES,
  ...VENDORS.flatMap(({ names, prefixes }) => withPrefixes(names, prefixes)),
  ...UNVERSIONED_ALIASES,
]);

/** The message-style model list: every id of the family in the vendor's spelling, and its `-nothinking` variant. */
export const MESSAGE_MODEL_IDS: readonly string[] = toFamilyAliases("claude-")
  .concat(toFamilyAliases("modelb-"))
  .flatMap(([id]) => [id, id + NO_THINKING_SUFFIX]);
