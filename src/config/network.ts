import ipaddr from "ipaddr.js";

/** A network: its address, and how many bits of it count. */
export type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** A network in CIDR notation, or one address; null: it is none. An IPv4 one may be written as IPv6. */
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
