import { type Alias, FLASH, PRO } from "./alias.ts";

/** Model names of the message style without the family's prefix, and their canonical models. */
const TIERS: readonly Alias[] = [
  ["opus-5-5", PRO],
  ["opus-5", PRO],
  ["sonnet-5-5", FLASH],
  ["sonnet-5", FLASH],
  ["haiku-5-5", FLASH],
  ["mythos-5-2", PRO],
  ["mythos-5-1", PRO],
  ["mythos-5", PRO],
  ["mythos-preview", PRO],
  ["fable-5-2", FLASH],
  ["fable-5-1", FLASH],
  ["fable-5", FLASH],
  ["opus-4-8", PRO],
  ["opus-4-7", PRO],
  ["opus-4-6", PRO],
  ["opus-4-5", PRO],
  ["opus-4-5-20251101", PRO],
  ["opus-4-1", PRO],
  ["opus-4-1-20250805", PRO],
  ["opus-4-0", PRO],
  ["opus-4-20250514", PRO],
  ["sonnet-4-6", FLASH],
  ["sonnet-4-5", FLASH],
  ["sonnet-4-5-20250929", FLASH],
  ["sonnet-4-0", FLASH],
  ["sonnet-4-20250514", FLASH],
  ["haiku-4-5", FLASH],
  ["haiku-4-5-20251001", FLASH],
  ["3-7-sonnet", FLASH],
  ["3-7-sonnet-20250219", FLASH],
  ["3-7-sonnet-latest", FLASH],
  ["3-5-sonnet", FLASH],
  ["3-5-sonnet-20241022", FLASH],
  ["3-5-sonnet-20240620", FLASH],
  ["3-5-sonnet-latest", FLASH],
  ["3-5-haiku", FLASH],
  ["3-5-haiku-20241022", FLASH],
  ["3-5-haiku-latest", FLASH],
  ["3-opus", PRO],
  ["3-opus-20240229", PRO],
  ["3-opus-latest", PRO],
  ["3-sonnet", FLASH],
  ["3-sonnet-20240229", FLASH],
  ["3-haiku", FLASH],
  ["3-haiku-20240307", FLASH],
  ["opus-4", PRO],
  ["sonnet-4", FLASH],
  ["haiku-4", FLASH],
];

/** Aliases without a version, as menus of agents offer them. */
export const UNVERSIONED_ALIASES: readonly Alias[] = [
  ["opus", PRO],
  ["sonnet", FLASH],
  ["haiku", FLASH],
];

/** Returns the family's names with one of its prefixes (`modelb-`, `claude-`), in the vendor's spelling. */
export function toFamilyAliases(prefix: string): Alias[] {
  return [...TIERS, ...UNVERSIONED_ALIASES].map(([name, target]) => [prefix + name, target] as const);
}

/** Returns the names whose version has two numbers, in the spelling with a dot: `claude-sonnet-4.5`. */
export function toDottedFamilyAliases(prefix: string): Alias[] {
  return toFamilyAliases(prefix).flatMap(([name, target]): Alias[] => {
    const dotted = name.replace(/(?<=-\d)-(?=\d(?:-|$))/, ".");
    return dotted === name ? [] : [[dotted, target]];
  });
}
