import { GatewayError } from "../../core/errors/gateway-error.ts";
import { type Page, paginateById } from "../../core/routing/paginate-by-id.ts";

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
): Page<Model> {
  const notFound = () =>
    new GatewayError(400, `${cursorName}: the list has no such model`, {
      code: "invalid_request",
      param: cursorName,
    });
  if (after !== undefined || before === undefined) return paginateById(models, after, limit, notFound);
  const { data, hasMore } = paginateById(models.toReversed(), before, limit, notFound);
  return { data: data.toReversed(), hasMore };
}
