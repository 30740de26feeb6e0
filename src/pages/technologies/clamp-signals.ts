import type { NamedTexts, PageSignals } from "../../core/ports/page-browser.ts";
import { MAX_HTML } from "../browser/html-limit.ts";

const MAX_SCRIPTS = 1_000_000;
const MAX_CSS = 1_000_000;
const MAX_TEXT = 500_000;
/** The time of patterns for addresses and values can grow with the square of their length. */
const MAX_ADDRESS = 1_024;
const MAX_ADDRESSES = 65_536;
const MAX_VALUE = 2_048;
const MAX_ITEMS = 250;
/** Scripts, globals and elements are matched one by one, in linear time. */
const MAX_TEXTS = 1_000;

/**
 * Truncates signals to fixed maximum sizes, so that no page can make detection expensive. Lengths are in UTF-16 code
 * units: 2,000,000 of HTML; 1,000,000 each of inline scripts, of external scripts and of style sheets; 500,000 of text
 * and of robots.txt; 1,024 of a script's address and 65,536 of all; 2,048 of any other value. At most 250 headers,
 * cookies, meta names, DNS types, script addresses and hosts each.
 */
export function clampSignals(signals: PageSignals): PageSignals {
  return {
    ...(signals.url !== undefined && { url: signals.url.slice(0, MAX_VALUE) }),
    ...(signals.html !== undefined && { html: signals.html.slice(0, MAX_HTML) }),
    ...(signals.text !== undefined && { text: signals.text.slice(0, MAX_TEXT) }),
    ...(signals.robots !== undefined && { robots: signals.robots.slice(0, MAX_TEXT) }),
    ...(signals.certIssuer !== undefined && { certIssuer: signals.certIssuer.slice(0, MAX_VALUE) }),
    headers: clampNamed(signals.headers),
    cookies: clampNamed(signals.cookies),
    meta: clampNamed(signals.meta),
    dns: clampNamed(signals.dns),
    scriptSrc: clampTotal(clampEach(signals.scriptSrc, MAX_ADDRESS), MAX_ADDRESSES),
    xhrHosts: clampEach(signals.xhrHosts),
    inlineScripts: clampTotal(signals.inlineScripts, MAX_SCRIPTS),
    externalScripts: clampTotal(signals.externalScripts, MAX_SCRIPTS),
    css: clampTotal(signals.css, MAX_CSS),
    js: (signals.js ?? [])
      .slice(0, MAX_TEXTS)
      .map(({ chain, value }) => ({ chain, value: value.slice(0, MAX_VALUE) })),
    dom: (signals.dom ?? [])
      .slice(0, MAX_TEXTS)
      .map((signal) => ({ ...signal, value: signal.value.slice(0, MAX_VALUE) })),
  };
}

function clampEach(texts: readonly string[] = [], length = MAX_VALUE): string[] {
  return texts.slice(0, MAX_ITEMS).map((text) => text.slice(0, length));
}

/** Takes texts until their total length reaches the limit. */
function clampTotal(texts: readonly string[] = [], length: number): string[] {
  const clamped: string[] = [];
  let remaining = length;
  for (const text of texts) {
    if (remaining <= 0 || clamped.length === MAX_TEXTS) break;
    clamped.push(text.slice(0, remaining));
    remaining -= text.length;
  }
  return clamped;
}

/** Also converts names to lower case, and merges the texts of names that differ only in case. */
function clampNamed(texts: NamedTexts = {}): NamedTexts {
  const clamped: Record<string, string[]> = Object.create(null);
  for (const [name, values] of Object.entries(texts).slice(0, MAX_ITEMS)) {
    const key = name.toLowerCase();
    clamped[key] = [...(clamped[key] ?? []), ...clampEach(values)];
  }
  return clamped;
}
