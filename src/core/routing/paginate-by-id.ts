import type { GatewayError } from "../errors/gateway-error.ts";

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly hasMore: boolean;
}

/**
 * Returns the page of a list that starts after the item with the id `after`, or the first page without `after`.
 *
 * @throws GatewayError the error of `createNotFoundError` if no item has that id
 */
export function paginateById<Item extends { readonly id: string }>(
  items: readonly Item[],
  after: string | undefined,
  limit: number,
  createNotFoundError: (id: string) => GatewayError,
): Page<Item> {
  const afterIndex = after === undefined ? -1 : items.findIndex(({ id }) => id === after);
  if (after !== undefined && afterIndex < 0) throw createNotFoundError(after);
  const data = items.slice(afterIndex + 1, afterIndex + 1 + limit);
  return { data, hasMore: afterIndex + 1 + data.length < items.length };
}
