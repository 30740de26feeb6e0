/** Hosts of third-party content that can be blocked, by purpose. */
export interface BlockLists {
  /** Whether a host serves advertisements. */
  isAd(host: string): boolean;
  /** Whether a host serves cookie banners. */
  isConsent(host: string): boolean;
}

/**
 * Parses the text that `scripts/build-block-lists.mjs` writes: one line per purpose, `ad` and `consent`, followed by
 * the hosts. A host includes all of its subdomains.
 */
export function parseBlockLists(text: string): BlockLists {
  const lists = new Map<string, ReadonlySet<string>>();
  for (const line of text.split("\n")) {
    const [purpose, ...hosts] = line.split(" ");
    if (purpose !== undefined) lists.set(purpose, new Set(hosts));
  }
  const noHosts: ReadonlySet<string> = new Set();
  const ads = lists.get("ad") ?? noHosts;
  const consent = lists.get("consent") ?? noHosts;
  return { isAd: (host) => includesHost(ads, host), isConsent: (host) => includesHost(consent, host) };
}

function includesHost(list: ReadonlySet<string>, host: string): boolean {
  for (let name = host.toLowerCase(); name !== ""; ) {
    if (list.has(name)) return true;
    const dot = name.indexOf(".");
    name = dot === -1 ? "" : name.slice(dot + 1);
  }
  return false;
}
