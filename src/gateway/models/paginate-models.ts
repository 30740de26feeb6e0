import { GatewayError } from "../../core/errors/gateway-error.ts";

/** Which part of a list of models is requested. */
export interface ModelPageRequest {
  /** Most models of the page. Absent: all. */
  readonly limit: number | undefined;
  /** The page begins after the model with this id. */
  readonly after?: string | undefined;
  /** The page ends before the model with this id. Counts only without `after`. */
  readonly before?: string | undefined;
  /** The parameter that has the id, for errors. */
  readonly cursorName: string;
}

/**
 * Returns a page of a list of models, and whether more follow in the direction of paging.
 *
 * @throws GatewayError 400 if no model has the id
 */
export function paginateModels<Model extends { readonly id: string }>(
  models: readonly Model[],
  { limit = models.length, after, before, cursorName }: ModelPageRequest,
): { readonly data: readonly Model[]; readonly hasMore: boolean } {
  const cursor = after ?? before;
  const at = cursor === undefined ? -1 : models.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && at < 0) {
    throw new GatewayError(400, `${cursorName}: the list has no such model`, {
      code: "invalid_request",
      param: cursorName,
    });
  }
  if (after === undefined && before !== undefined) {
    const start = Math.max(0, at - limit);
    return { data: models.slice(start, at), hasMore: start > 0 };
  }
  const data = models.slice(at + 1, at + 1 + limit);
  return { data, hasMore: at + 1 + data.length < models.length };
}
