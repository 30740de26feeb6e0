import { isPublicAddress } from "./addresses.ts";
import { portOf } from "./ports.ts";

/** Name endings that never lead to the public internet (RFC 6761, RFC 6762 appendix G, RFC 8375, ICANN `.internal`). */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set([
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "home.arpa",
  "svc",
]);

/** Public-looking names under which clouds answer with the credentials of the machine that asks. */
const METADATA_HOSTS: ReadonlySet<string> = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.com",
  "metadata.tencentyun.com",
  "metadata.platformequinix.com",
  "metadata.packet.net",
  "instance-data.ec2.internal",
  "kubernetes.default",
]);

const MAX_LABEL = 63;
const MAX_NAME = 253;

/** A host name in the form that decisions are made on: lower case by the URL parser, less one trailing dot. */
export function canonicalHost(url: URL): string {
  return url.hostname.endsWith(".") ? url.hostname.slice(0, -1) : url.hostname;
}

/**
 * Why a host is not on the public internet, or `undefined` when it may be. Only the name and any literal address are
 * judged: what a public name resolves to is for the network layer to decide.
 *
 * @param host the result of {@link canonicalHost}: IPv6 in brackets, internationalised names in ASCII
 */
export function privateHostReason(host: string): string | undefined {
  if (host === "") return "it is empty";
  if (host.startsWith("[")) {
    return isPublicAddress(host.slice(1, -1)) ? undefined : "its address is not on the public internet";
  }
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
    return isPublicAddress(host) ? undefined : "its address is not on the public internet";
  }
  if (host.length > MAX_NAME) return "its name is too long";
  const labels = host.split(".");
  if (labels.includes("")) return "its name has an empty part";
  if (labels.some((label) => label.length > MAX_LABEL)) return "a part of its name is too long";
  if (labels.length === 1) return "its name has only one part";
  if (METADATA_HOSTS.has(host)) return "it serves the metadata of cloud machines";
  if (PRIVATE_SUFFIXES.has(labels.slice(-1).join(".")) || PRIVATE_SUFFIXES.has(labels.slice(-2).join("."))) {
    return "its name is reserved for private networks";
  }
  return undefined;
}

/**
 * Reads the setting that lets pages be loaded from this machine, for development and tests.
 *
 * @param text `host:port` pairs, separated by commas; IPv6 hosts in brackets. Entries that are not such a pair are left out.
 * @returns the pairs as {@link isListedPrivateHost} compares them
 */
export function parsePrivateHosts(text: string | undefined): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const entry of (text ?? "").split(",")) {
    const pair = entry.trim();
    if (!/:\d+$/.test(pair) || !URL.canParse(`http://${pair}`)) continue;
    const url = new URL(`http://${pair}`);
    if (url.pathname === "/" && url.username === "" && url.password === "") hosts.add(hostAndPort(url));
  }
  return hosts;
}

/** Whether the host and port of a URL are among those that the settings open for development and tests. */
export function isListedPrivateHost(url: URL, privateHosts: ReadonlySet<string>): boolean {
  return privateHosts.size > 0 && privateHosts.has(hostAndPort(url));
}

function hostAndPort(url: URL): string {
  return `${canonicalHost(url)}:${portOf(url)}`;
}
