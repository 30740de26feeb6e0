// Extracts the hosts of advertising and of cookie consent from the catalogue of third parties, for request blocking.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./development.mjs";

const PURPOSES = { ad: "ad", "consent-provider": "consent" };

/** Hosts of cookie banners that the catalogue lists under other categories or not at all. */
const MORE_CONSENT = [
  "app.usercentrics.eu",
  "cdn-cookieyes.com",
  "cdn.consentmanager.net",
  "cdn.iubenda.com",
  "cdn.privacy-mgmt.com",
  "cmp.osano.com",
  "cmp.quantcast.com",
  "consent.cookiebot.com",
  "consent.cookiefirst.com",
  "consent.trustarc.com",
  "consent.truste.com",
  "consentcdn.cookiebot.com",
  "cookie-script.com",
  "app.termly.io",
  "delivery.consentmanager.net",
  "fundingchoicesmessages.google.com",
  "static.axept.io",
  "web.cmp.usercentrics.eu",
];

/** Formats the block lists as text: one line per purpose, followed by its hosts. */
export function blockLists(entities) {
  const hosts = Object.fromEntries(Object.values(PURPOSES).map((purpose) => [purpose, new Set()]));
  for (const host of MORE_CONSENT) hosts.consent.add(host);
  for (const { categories, domains } of entities) {
    for (const category of categories) {
      const list = hosts[PURPOSES[category]];
      if (list !== undefined)
        for (const domain of domains) list.add(domain.replace(/^\*\./, "").toLowerCase());
    }
  }
  const lines = Object.entries(hosts).map(([purpose, list]) => [purpose, ...[...list].sort()].join(" "));
  return `${lines.join("\n")}\n`;
}

/** Writes `dist/block-lists.txt` and returns its path. */
export function buildBlockLists() {
  const { entities } = createRequire(import.meta.url)("third-party-web/nostats-subset");
  const output = join(root, "dist", "block-lists.txt");
  const text = blockLists(entities);
  mkdirSync(dirname(output), { recursive: true });
  if (readIfExists(output) !== text) writeFileSync(output, text);
  return output;
}

function readIfExists(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(buildBlockLists());
