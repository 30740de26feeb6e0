import ipaddr from "ipaddr.js";

/** One household or machine commonly has a whole /64 of IPv6. */
const IPV6_PREFIX_PARTS = 4;
/** One site, or one server that is rented, may have a whole /48: 65,536 of those. */
const IPV6_SITE_PARTS = 3;

/**
 * Names the client that calls are counted for: an IPv4 address, or the first 64 bits of an IPv6 one. All clients that the platform has no address
 * for are counted together.
 *
 * @param address the client's address as the platform vouches for it; empty when it cannot
 */
export function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${prefix(parsed, IPV6_PREFIX_PARTS)}::/64`;
}

/** Names the network that a client may have at its disposal beside its own address: the first 48 bits of IPv6; null: none. */
export function networkKey(address: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv4 ? null : `${prefix(parsed, IPV6_SITE_PARTS)}::/48`;
}

/**
 * The last of the addresses in a header: the nearest proxy has added it to what the client itself may have sent. Undefined if
 * the request has no such header.
 */
export function lastAddress(headers: Headers, name: string): string | undefined {
  return headers.get(name)?.split(",").at(-1)?.trim();
}

function prefix({ parts }: { readonly parts: readonly number[] }, count: number): string {
  return parts
    .slice(0, count)
    .map((part) => part.toString(16))
    .join(":");
}
