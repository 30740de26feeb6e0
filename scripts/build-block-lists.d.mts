/** The block lists as a text: a line for each purpose, with its hosts behind it. */
export function blockLists(
  entities: readonly { readonly categories: readonly string[]; readonly domains: readonly string[] }[],
): string;
/** Writes `dist/block-lists.txt` and returns its path. */
export function buildBlockLists(): string;
