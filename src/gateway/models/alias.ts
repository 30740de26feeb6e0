/** A requested name, and the canonical id that it maps to. */
export type Alias = readonly [name: string, target: string];

export const FLASH = "provider-v4-flash";
export const PRO = "provider-v4-pro";
export const SEARCH = "provider-v4-flash-search";
export const VISION = "provider-v4-vision";

/** Maps all names to the same target. */
export function toAliases(target: string, ...names: string[]): Alias[] {
  return names.map((name) => [name, target] as const);
}
