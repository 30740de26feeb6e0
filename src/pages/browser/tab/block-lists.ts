/** Hosts of third-party content that can be blocked, by purpose. */
export interface BlockLists {
  /** Whether a host serves advertisements to a page of another site. */
  isAd(host: string, pageHost: string): boolean;
  /** Whether a host serves cookie banners to a page of another site. */
  isConsent(host: string, pageHost: string): boolean;
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
  return {
    isAd: (host, pageHost) => blocksHost(ads, host, pageHost),
    isConsent: (host, pageHost) => blocksHost(consent, host, pageHost),
  };
}

/** Listed hosts have pages of their own: a host is not blocked for a page that the same entry of the list includes. */
function blocksHost(list: ReadonlySet<string>, host: string, pageHost: string): boolean {
  let isListed = false;
  for (let name = host.toLowerCase(); name !== ""; ) {
    if (list.has(name)) {
      if (`.${pageHost}`.endsWith(`.${name}`)) return false;
      isListed = true;
    }
    const dot = name.indexOf(".");
    name = dot === -1 ? "" : name.slice(dot + 1);
  }
  return isListed;
}
