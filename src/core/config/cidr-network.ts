import ipaddr from "ipaddr.js";

/** A network: its address and prefix length in bits. */
export type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/**
 * Parses a network in CIDR notation, or a single address; null if it is neither.
 * IPv4 may be written as IPv4-mapped IPv6.
 */
export function parseNetwork(text: string): Network | null {
  try {
    const [address, bits] = text.includes("/")
      ? ipaddr.parseCIDR(text)
      : [ipaddr.parse(text), text.includes(":") ? 128 : 32];
    if (!(address instanceof ipaddr.IPv6) || !address.isIPv4MappedAddress()) return [address, bits];
    return bits >= 96 ? [address.toIPv4Address(), bits - 96] : [address, bits];
  } catch {
    return null;
  }
}
