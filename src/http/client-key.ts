import ipaddr from "ipaddr.js";

/** One household or machine commonly has a whole /64 of IPv6. */
const IPV6_PREFIX_PARTS = 4;

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
  const prefix = parsed.parts.slice(0, IPV6_PREFIX_PARTS).map((part) => part.toString(16));
  return `${prefix.join(":")}::/64`;
}
