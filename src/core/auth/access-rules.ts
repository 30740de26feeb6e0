import ipaddr from "ipaddr.js";
import { type Network, parseNetwork } from "../config/cidr-network.ts";
import { isModelListed, type NamedModel } from "../config/name-list.ts";
import type { ApiKey } from "../config/schemas/key-schema.ts";
import type { SubjectEntry } from "../config/schemas/subject-schema.ts";
import { oncePer } from "../encoding/once.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import type { RequestLimits } from "../ports/subject-limits.ts";
import type { CallerKey } from "./caller-keys.ts";
import type { Caller } from "./callers.ts";

/** The API styles and networks that a key may be used with. */
export type KeyScope = Pick<ApiKey, "dialects" | "networks">;

/** An unparsable entry matches no address. */
const parseNetworks = oncePer((list: readonly string[]): readonly Network[] =>
  list.map(parseNetwork).filter((network) => network !== null),
);

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

/** The entries of the configuration whose rules hold for a request: its key, the key's user and team, and its tags. */
export function listSubjectEntries(
  { key }: Pick<Caller, "key">,
  { tagEntries = [] }: RequestLimits,
): (ApiKey | SubjectEntry)[] {
  const ofKey = key === null ? [] : [key.entry, ...(key.subjects ?? []).map(({ entry }) => entry)];
  return [...ofKey, ...tagEntries];
}

/** A list of allowed models, and whose it is, for error messages. */
interface ModelList {
  readonly owner: string;
  readonly models: readonly string[];
}

/** The lists of models that all must allow a model: those of the key, its user, its team and the request's tags. */
function listModelLists(key: CallerKey | null, { tagEntries = [] }: RequestLimits): ModelList[] {
  const lists: ModelList[] = [];
  const add = (kind: string, { id, models = [] }: SubjectEntry) => {
    if (models.length > 0) lists.push({ owner: `the ${kind} ${JSON.stringify(id)}`, models });
  };
  const { models = [] } = key?.entry ?? {};
  if (models.length > 0) lists.push({ owner: "this API key", models });
  for (const { kind, entry } of key?.subjects ?? []) add(kind, entry);
  for (const entry of tagEntries) add("tag", entry);
  return lists;
}

/** Whether a key may be used for a model: see {@link assertModelAllowed}. */
export function isModelAllowed(
  { key }: Pick<Caller, "key">,
  requestLimits: RequestLimits,
  model: NamedModel,
): boolean {
  return listModelLists(key, requestLimits).every(({ models }) => isModelListed(models, model));
}

/**
 * Rejects a body that names further models, which cannot be checked, if the caller may use only some.
 *
 * @throws GatewayError 403
 */
export function assertNoModelList({ key }: Pick<Caller, "key">, requestLimits: RequestLimits): void {
  const [list] = listModelLists(key, requestLimits);
  if (list === undefined) return;
  throw forbidden(`${list.owner} may use only some models: the body must not name further ones`);
}

/** Whether the caller may use only some models. */
export function hasModelList({ key }: Pick<Caller, "key">, requestLimits: RequestLimits): boolean {
  return listModelLists(key, requestLimits).length > 0;
}

/**
 * Rejects a model that the key, its user, its team or a tag of the request does not allow.
 *
 * @throws GatewayError 403
 */
export function assertModelAllowed(
  { key }: Pick<Caller, "key">,
  requestLimits: RequestLimits,
  model: NamedModel,
): void {
  const refusing = listModelLists(key, requestLimits).find(({ models }) => !isModelListed(models, model));
  if (refusing === undefined) return;
  throw forbidden(`${refusing.owner} may not use the model ${JSON.stringify(model.requested)}`, "model");
}
