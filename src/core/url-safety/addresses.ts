import ipaddr from "ipaddr.js";

/** A cloud's address for metadata and certificate requests of virtual machines, although it lies in a public range. */
const PLATFORM_ADDRESSES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** The only IPv6 block allocated for the public internet (RFC 4291, section 2.4, as allocated by IANA). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** IPv6 blocks that carry an IPv4 destination in their last 32 bits. */
const IPV4_IN_LAST_BITS = [
  "::/96", // IPv4-compatible, RFC 4291
  "::ffff:0:0/96", // IPv4-mapped, RFC 4291
  "64:ff9b::/96", // NAT64, RFC 6052
].map((cidr) => ipaddr.IPv6.parseCIDR(cidr));

const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR("2002::/16"); // RFC 3056
const TEREDO = ipaddr.IPv6.parseCIDR("2001::/32"); // RFC 4380

/**
 * Whether an IP address belongs to the public internet.
 *
 * @param ip an IPv4 address of four decimal parts or an IPv6 address, without brackets, zone or port. Anything else,
 *   short or octal spellings included, is not public.
 * @returns true only for global unicast. An IPv6 address that carries an IPv4 one (mapped, compatible, NAT64, 6to4,
 *   Teredo, ISATAP) is public when every IPv4 address inside it is.
 */
export function isPublicAddress(ip: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) {
    return !PLATFORM_ADDRESSES.has(ip) && ipaddr.IPv4.parse(ip).range() === "unicast";
  }
  if (ip.includes("%") || !ipaddr.IPv6.isValid(ip)) return false;

  const embedded = embeddedIPv4(ip);
  if (!embedded.every(isPublicAddress)) return false;
  const address = ipaddr.IPv6.parse(ip);
  if (IPV4_IN_LAST_BITS.some((block) => address.match(block))) return true;
  if (address.match(SIX_TO_FOUR) || address.match(TEREDO)) return true;
  return address.match(GLOBAL_UNICAST) && address.range() === "unicast";
}

/**
 * The IPv4 addresses that an IPv6 address contains. A network on the path may translate the IPv6 address to them: mapped,
 * compatible, NAT64, 6to4, Teredo (its server and its client) and ISATAP.
 *
 * @param ip as in {@link isPublicAddress}; any other text contains none
 */
export function embeddedIPv4(ip: string): string[] {
  if (ip.includes("%") || !ipaddr.IPv6.isValid(ip)) return [];
  const address = ipaddr.IPv6.parse(ip);
  const bytes = address.toByteArray();
  const at = (start: number) => bytes.slice(start, start + 4).join(".");
  if (IPV4_IN_LAST_BITS.some((block) => address.match(block))) return [at(12)];
  if (address.match(SIX_TO_FOUR)) return [at(2)];
  if (address.match(TEREDO)) {
    const client = bytes.slice(12).map((byte) => byte ^ 0xff);
    return [at(4), client.join(".")];
  }
  return isIsatap(bytes) ? [at(12)] : [];
}

/** The interface identifier `0000:5efe` or `0200:5efe` announces an IPv4 destination (RFC 5214, section 6.1). */
function isIsatap(bytes: readonly number[]): boolean {
  return (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}
