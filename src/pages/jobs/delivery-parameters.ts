import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { checkPageUrl, type UrlSafetyOptions } from "../../core/url-safety/index.ts";
import type { Variables } from "../../core/variables/variables.ts";
import type { CallerAccess } from "../limits/page-caller.ts";

/** Where a job's outcome is sent (docs/page-contract/jobs.md, Delivery of jobs). */
export interface JobDelivery {
  /** Receives the finished job's state with POST; null: no delivery. */
  readonly webhook: string | null;
  /** Receive the results with PUT, in the order of the job's addresses; empty: no delivery. */
  readonly uploadUrls: readonly string[];
}

/** The parameters of a delivery, as they came. */
export interface DeliveryParameters {
  readonly webhook?: string | null | undefined;
  readonly uploadUrls?: readonly string[] | undefined;
}

const MAX_ADDRESS = 4_096;

/**
 * Checks the addresses of a delivery.
 *
 * @param count number of the job's addresses
 * @throws GatewayError 403 without an API key, 400 for an address that may not be used
 */
export function readDelivery(
  { webhook = null, uploadUrls = [] }: DeliveryParameters,
  count: number,
  access: CallerAccess,
  { deliveryPrivateHosts }: Pick<Variables, "deliveryPrivateHosts">,
): JobDelivery {
  const safety = { privateHosts: deliveryPrivateHosts };
  const uploadName = count === 1 ? "uploadUrl" : "uploadUrls";
  if (webhook !== null) checkAddress("webhook", webhook, access, safety);
  for (const address of uploadUrls) checkAddress(uploadName, address, access, safety);
  if (uploadUrls.length > 0 && uploadUrls.length !== count)
    throw invalidRequest("uploadUrls needs one address for each of urls.", "uploadUrls");
  return { webhook, uploadUrls };
}

/** Throws a 400 for a delivery of a call that starts no job. */
export function rejectDelivery({ webhook = null, uploadUrls = [] }: DeliveryParameters): void {
  if (webhook !== null) throw invalidRequest("The parameter webhook needs a job (async or urls).", "webhook");
  if (uploadUrls.length > 0)
    throw invalidRequest("The parameter uploadUrl needs a job (async or urls).", "uploadUrl");
}

/** Without a key, strangers could make the service call any public address. */
function checkAddress(name: string, address: string, access: CallerAccess, safety: UrlSafetyOptions): void {
  if (access !== "key") {
    throw new GatewayError(403, `The parameter ${name} needs an API key.`, {
      code: "permission_denied",
      param: name,
    });
  }
  const isAllowed =
    address.length <= MAX_ADDRESS && /^https?:\/\//i.test(address) && checkPageUrl(address, safety).ok;
  if (isAllowed) return;
  throw invalidRequest(
    `The parameter ${name} must be an http(s) address on the public internet, of at most ${MAX_ADDRESS} characters.`,
    name,
  );
}
