import type { Catalogue } from "./catalogue.ts";

/** What the fingerprints of one selector need of the matching elements. */
export type ProbeSelector = {
  readonly selector: string;
  readonly exists: boolean;
  readonly text: boolean;
  readonly attributes: readonly string[];
  readonly properties: readonly string[];
};

/** What the probe must look for; plain data, about 200 kB as JSON. */
export type ProbeArgument = {
  /** Globals, each split into its parts: `["jQuery", "fn", "jquery"]`. */
  readonly chains: readonly (readonly string[])[];
  readonly selectors: readonly ProbeSelector[];
};

/** Collects the distinct globals and selectors of all fingerprints. */
export function createProbeArgument({ technologies }: Catalogue): ProbeArgument {
  const chains = new Set(technologies.flatMap(({ fingerprint }) => Object.keys(fingerprint.js ?? {})));
  const selectors = new Map<
    string,
    { exists: boolean; text: boolean; attributes: Set<string>; properties: Set<string> }
  >();
  for (const { fingerprint } of technologies) {
    for (const [selector, conditions] of Object.entries(fingerprint.dom ?? {})) {
      const combined = selectors.get(selector) ?? {
        exists: false,
        text: false,
        attributes: new Set(),
        properties: new Set(),
      };
      selectors.set(selector, combined);
      combined.exists ||= conditions["exists"] !== undefined;
      combined.text ||= conditions["text"] !== undefined;
      for (const name of listKeys(conditions["attributes"])) combined.attributes.add(name);
      for (const name of listKeys(conditions["properties"])) combined.properties.add(name);
    }
  }
  return {
    chains: [...chains].map((chain) => chain.split(".")),
    selectors: [...selectors].map(([selector, { exists, text, attributes, properties }]) => ({
      selector,
      exists,
      text,
      attributes: [...attributes],
      properties: [...properties],
    })),
  };
}

function listKeys(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
