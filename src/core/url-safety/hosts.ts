import { isPublicAddress } from "./addresses.ts";
import { effectivePort } from "./ports.ts";

/** Name suffixes that never lead to the public internet (RFC 6761, RFC 6762 appendix G, RFC 8375, ICANN `.internal`). */
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

/** Public-looking host names under which clouds serve the credentials of the requesting machine. */
const CLOUD_METADATA_HOSTS: ReadonlySet<string> = new Set([
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

/** A host name in canonical form: lower case (from the URL parser), without one trailing dot. */
export function canonicalHost(url: URL): string {
  return url.hostname.endsWith(".") ? url.hostname.slice(0, -1) : url.hostname;
}

/**
 * The reason why a host is not on the public internet, or `undefined` if it may be. Only the name and literal addresses are
 * checked: the network layer checks the addresses that a name resolves to.
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
  if (CLOUD_METADATA_HOSTS.has(host)) return "it serves the metadata of cloud machines";
  if (PRIVATE_SUFFIXES.has(labels.slice(-1).join(".")) || PRIVATE_SUFFIXES.has(labels.slice(-2).join("."))) {
    return "its name is reserved for private networks";
  }
  return undefined;
}

/**
 * Parses the setting that allows pages on this machine, for development and tests.
 *
 * @param text `host:port` pairs, separated by commas; IPv6 hosts in brackets. Invalid entries are ignored.
 * @returns the pairs in the form that {@link isListedPrivateHost} compares
 */
export function parsePrivateHosts(text: string | undefined): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const entry of (text ?? "").split(",")) {
    const pair = entry.trim();
    const host = /:\d+$/.test(pair) ? parseHostEntry(pair) : null;
    if (host !== null) hosts.add(host);
  }
  return hosts;
}

/**
 * Parses an entry of a list of hosts: `host` (any port) or `host:port`, IPv6 hosts in brackets.
 *
 * @returns the form that {@link isListedPrivateHost} compares; null for anything else
 */
export function parseHostEntry(text: string): string | null {
  if (/[\s/\\?#@*]/.test(text) || !URL.canParse(`http://${text}`)) return null;
  const url = new URL(`http://${text}`);
  return /:\d+$/.test(text) ? hostAndPort(url) : canonicalHost(url);
}

/** Whether a list allows a URL's host: with the URL's port, or with any. */
export function isListedPrivateHost(url: URL, privateHosts: ReadonlySet<string>): boolean {
  return (
    privateHosts.size > 0 && (privateHosts.has(hostAndPort(url)) || privateHosts.has(canonicalHost(url)))
  );
}

/** A URL's host and port, as a list names them. */
export function hostAndPort(url: URL): string {
  return `${canonicalHost(url)}:${effectivePort(url)}`;
}
