import { type Alias, all, FLASH } from "./alias.ts";
import { NO_THINKING } from "./catalogue.ts";
import { EMBEDDING_DIMENSIONS } from "./embedding-models.ts";
import { MESSAGE_SHORT, messageFamily } from "./message-family.ts";
import { RUNNER_NAMES } from "./runner-tags.ts";
import { VENDORS } from "./vendors.ts";

/** A vendor's names, alone and with each of its prefixes: `gpt-5`, `openai/gpt-5`. */
function withPrefixes(names: readonly Alias[], prefixes: readonly string[]): Alias[] {
  return ["", ...prefixes.map((prefix) => `${prefix}/`)].flatMap((prefix) =>
    names.map(([name, target]) => [prefix + name, target] as const),
  );
}

/** The built-in aliases: requested name → canonical id. Configured aliases override or add to them. */
export const DEFAULT_ALIASES: ReadonlyMap<string, string> = new Map([
  // Who computes embeddings is a setting; the name only has to mean something.
  ...all(FLASH, ...EMBEDDING_DIMENSIONS.keys()),
  ...RUNNER_NAMES,
  ...VENDORS.flatMap(({ names, prefixes }) => withPrefixes(names, prefixes)),
  ...MESSAGE_SHORT,
]);

/** The message-style model list: every id of the family as its vendor writes it, and its `-nothinking` variant. */
export const MESSAGE_MODEL_IDS: readonly string[] = messageFamily("claude-")
  .concat(messageFamily("modelb-"))
  .flatMap(([id]) => [id, id + NO_THINKING]);
