import ipaddr from "ipaddr.js";

/** One household or machine usually has a whole /64 of IPv6. */
const IPV6_PREFIX_PARTS = 4;
/** One site, or one rented server, may have a whole /48: 65,536 networks of /64. */
const IPV6_SITE_PARTS = 3;

/**
 * The rate-limit key of a client: an IPv4 address, or the first 64 bits of an IPv6 one. All clients without a known address
 * share one key.
 *
 * @param address the client's address as the platform vouches for it; empty if unknown
 */
export function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${formatPrefix(parsed, IPV6_PREFIX_PARTS)}::/64`;
}

/** The key of the network that a client may control: the first 48 bits of IPv6; null for IPv4. */
export function networkKey(address: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv4 ? null : `${formatPrefix(parsed, IPV6_SITE_PARTS)}::/48`;
}

/**
 * The last address of a list in a header, without the port that some proxies add: the nearest proxy appended it, but the
 * client may have sent the earlier ones. Undefined without the header.
 */
export function lastAddress(headers: Headers, name: string): string | undefined {
  const entry = headers.get(name)?.split(",").at(-1)?.trim();
  const [, address] =
    /^\[([\da-f:.]+)\](?::\d{1,5})?$/i.exec(entry ?? "") ?? /^([\d.]+):\d{1,5}$/.exec(entry ?? "") ?? [];
  return address ?? entry;
}

function formatPrefix({ parts }: { readonly parts: readonly number[] }, count: number): string {
  return parts
    .slice(0, count)
    .map((part) => part.toString(16))
    .join(":");
}
