import ipaddr from "ipaddr.js";
import { type Network, parseNetwork } from "../../core/config/cidr-network.ts";
import type { ApiKey } from "../../core/config/schema.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";

/** The models, API styles and networks that a key may be used with. */
export type KeyScope = Pick<ApiKey, "models" | "dialects" | "networks">;

const parsed = new WeakMap<readonly string[], readonly Network[]>();

function parseNetworks(list: readonly string[]): readonly Network[] {
  let networks = parsed.get(list);
  if (networks === undefined) {
    // An unparsable entry matches no address.
    networks = list.map(parseNetwork).filter((network) => network !== null);
    parsed.set(list, networks);
  }
  return networks;
}

/** Whether an address is in one of the networks. An address that the platform cannot verify is in none. */
export function isAddressInNetworks(address: string, list: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const client = ipaddr.process(address);
  return parseNetworks(list).some(
    ([network, bits]) =>
      network.kind() === client.kind() &&
      (client instanceof ipaddr.IPv4 && network instanceof ipaddr.IPv4
        ? client.match(network, bits)
        : client instanceof ipaddr.IPv6 && network instanceof ipaddr.IPv6 && client.match(network, bits)),
  );
}

/** Whether a list of models contains one of the names; a trailing `*` of an entry matches any rest. */
function matchesModel(list: readonly string[], model: readonly string[]): boolean {
  return list.some((entry) =>
    entry.endsWith("*")
      ? model.some((name) => name.startsWith(entry.slice(0, -1)))
      : model.some((name) => name === entry),
  );
}

function forbidden(message: string, param: string | null = null): GatewayError {
  return new GatewayError(403, message, { code: "permission_denied", param });
}

/**
 * Rejects a caller whose network its key does not allow.
 *
 * @throws GatewayError 403
 */
export function assertNetworkAllowed(scope: KeyScope | undefined, clientAddress: string): void {
  const { networks = [] } = scope ?? {};
  if (networks.length === 0 || isAddressInNetworks(clientAddress, networks)) return;
  throw forbidden("this API key may not be used from this network");
}

/**
 * Rejects a style that the key does not allow.
 *
 * @param style the style's name; or `embeddings` or `files` for endpoints that belong to no single style
 * @throws GatewayError 403
 */
export function assertDialectAllowed(scope: KeyScope | undefined, style: string): void {
  const { dialects = [] } = scope ?? {};
  if (dialects.length === 0 || dialects.includes(style)) return;
  throw forbidden(`this API key may not be used for ${style}: only for ${dialects.join(", ")}`);
}

/** Whether a key may be used for a model: see {@link assertModelAllowed}. */
export function isModelAllowed(
  scope: KeyScope | undefined,
  { requested, id }: { readonly requested: string; readonly id: string },
): boolean {
  const { models = [] } = scope ?? {};
  return models.length === 0 || matchesModel(models, [requested, id]);
}

/**
 * Rejects a model that the key does not allow.
 *
 * @param model the name that the caller wrote, and the model that it stands for: a key may list either
 * @throws GatewayError 403
 */
export function assertModelAllowed(
  scope: KeyScope | undefined,
  model: { readonly requested: string; readonly id: string },
): void {
  if (isModelAllowed(scope, model)) return;
  throw forbidden(`this API key may not use the model ${JSON.stringify(model.requested)}`, "model");
}
