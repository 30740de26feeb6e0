import type { PageOperation } from "../core/ports/page-jobs.ts";
import type { Variables } from "../core/variables/variables.ts";
import { CONTENT } from "./content/endpoints.ts";
import { readPageAddressOptions } from "./http/page-address.ts";
import { QueryParameters } from "./http/query-parameters.ts";
import { readDelivery } from "./jobs/delivery-parameters.ts";
import { normalizedQuery } from "./limits/page-caller.ts";
import { METADATA } from "./metadata/endpoints.ts";
import type { Operation, OperationRequest } from "./operations/define-operation.ts";
import { TECHNOLOGIES } from "./technologies/endpoints.ts";
import { THUMBS } from "./thumbnails/endpoints.ts";

const OPERATIONS: Readonly<Record<PageOperation, Pick<Operation<OperationRequest>, "read">>> = {
  thumbs: THUMBS,
  technologies: TECHNOLOGIES,
  metadata: METADATA,
  content: CONTENT,
};

/** Throws the error that every call of a signed link with this query would get, and that names the parameter. */
export function assertLinkQuery(
  operation: PageOperation,
  query: URLSearchParams,
  variables: Pick<Variables, "deliveryPrivateHosts" | "development" | "pages">,
): void {
  const delivery = { webhook: query.get("webhook"), uploadUrls: query.getAll("uploadUrl") };
  readDelivery(delivery, 1, "link", variables);
  new QueryParameters(query).boolean("async", false);
  OPERATIONS[operation].read(normalizedQuery(query), {
    ...readPageAddressOptions(variables),
    access: "link",
  });
}
