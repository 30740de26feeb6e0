import type { ChildNode, Element } from "domhandler";
import type { NamedTexts } from "../../core/ports/page-browser.ts";
import { MAX_HTML } from "../browser/html-limit.ts";
import { parseHtml, rawText } from "../technologies/html-parser.ts";
import { AddressResolver, parseLinkHeaders, toAbsoluteUrl } from "./addresses.ts";
import { BylineReader } from "./byline.ts";
import { cleanText, firstLanguageTag, SKIPPED_ELEMENTS } from "./clean-text.ts";
import { findTexts, type JsonObject, parseJsonLd } from "./json-ld.ts";
import { isFeed, MAX_TITLE, MetaCollector } from "./meta-collector.ts";
import type { PageMetadata } from "./result.ts";
import { countWords, detectLanguage } from "./text-statistics.ts";

const MAX_DESCRIPTION = 5_000;
/** Elements whose text does not belong to the text of the page. */
const TEXTLESS_ELEMENTS = new Set(["head", "title", "textarea", "select", "nav"]);

/** A page whose metadata is read. */
interface ParsedPage {
  readonly html: string;
  /** The final URL. */
  readonly url: string;
  /** The response headers, by name in lower case. */
  readonly headers: NamedTexts;
}

/** Reads the metadata of a page. */
export function parseMetadata({ html, url, headers }: ParsedPage): PageMetadata {
  const { children } = parseHtml(html.slice(0, MAX_HTML));
  const addresses = new AddressResolver(findBase(children, url));
  const meta = new MetaCollector(addresses);
  const byline = new BylineReader(addresses);
  const { scripts, text } = walkDocument(children, meta, byline);
  const jsonLd = parseJsonLd(scripts);
  byline.addJsonLd(jsonLd);
  const openGraph = meta.openGraph.values;
  const twitter = meta.twitter.values;
  const title =
    meta.title ?? openGraph.get("title") ?? twitter.get("title") ?? firstText(jsonLd, "headline", MAX_TITLE);
  byline.addTitle(title);
  const links = parseLinkHeaders(headers["link"] ?? [], url);
  for (const link of links)
    if (isFeed(link.kinds, link.type)) {
      meta.addFeed({ url: link.url, type: link.type, title: cleanText(link.title, MAX_TITLE) });
    }
  return {
    title,
    description:
      meta.description ??
      openGraph.get("description") ??
      twitter.get("description") ??
      firstText(jsonLd, "description", MAX_DESCRIPTION),
    ...byline.result,
    canonical: meta.canonical ?? links.find(({ kinds }) => kinds.includes("canonical"))?.url ?? null,
    language:
      meta.language ??
      firstLanguageTag(headers["content-language"]?.[0]) ??
      firstLanguageTag(openGraph.get("locale")) ??
      firstLanguageTag(firstText(jsonLd, "inLanguage", MAX_TITLE) ?? undefined),
    textLanguage: detectLanguage(text),
    wordCount: countWords(text),
    keywords: meta.keywords,
    robots: meta.robots ?? cleanText(headers["x-robots-tag"]?.join(", ") ?? "", MAX_TITLE),
    generator: meta.generator,
    openGraph: Object.fromEntries(openGraph),
    twitter: Object.fromEntries(twitter),
    images: meta.images,
    favicon: meta.icons.find(({ rel }) => rel === "icon")?.url ?? toAbsoluteUrl("/favicon.ico", url),
    icons: meta.icons,
    feeds: meta.feeds,
    jsonLd,
  };
}

function firstText(jsonLd: readonly JsonObject[], path: string, maxLength: number): string | null {
  for (const text of findTexts(jsonLd, path)) return cleanText(text, maxLength);
  return null;
}

/**
 * Walks over a document once, in order. Uses a stack instead of recursion, because a page may nest elements deeply.
 *
 * @returns the JSON-LD scripts and the visible text of the page
 */
function walkDocument(
  children: readonly ChildNode[],
  meta: MetaCollector,
  byline: BylineReader,
): { readonly scripts: string[]; readonly text: string } {
  const scripts: string[] = [];
  const texts: string[] = [];
  const stack = [{ children, next: 0, inside: 0, hasText: true }];
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const node = level.children[level.next++];
    if (node === undefined) stack.pop();
    else if (node.type === "text") {
      if (level.hasText) texts.push(node.data);
    } else if ("attribs" in node && !SKIPPED_ELEMENTS.has(node.name)) {
      if (node.name === "meta") byline.addMeta(metaNames(node), node.attribs["content"] ?? "");
      meta.addElement(node);
      const inside = byline.addElement(node, level.inside);
      const hasText = level.hasText && !TEXTLESS_ELEMENTS.has(node.name);
      stack.push({ children: node.children, next: 0, inside, hasText });
    } else if ("attribs" in node && isJsonLd(node)) scripts.push(rawText(node));
  }
  return { scripts, text: texts.join(" ") };
}

/** The names that a meta element has, in lower case: `property` first. */
function metaNames({ attribs }: Element): string[] {
  const names = [attribs["property"], attribs["name"], attribs["itemprop"]];
  return names.flatMap((name) => (name ?? "").toLowerCase().split(/\s+/, 5)).filter(Boolean);
}

function isJsonLd({ name, attribs }: Element): boolean {
  return name === "script" && /^\s*application\/ld\+json\b/i.test(attribs["type"] ?? "");
}

/** The base address of a document. It also applies to addresses before the first `base` element. */
function findBase(children: readonly ChildNode[], url: string): string {
  const stack = [...children].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!("attribs" in node) || SKIPPED_ELEMENTS.has(node.name)) continue;
    const { href } = node.attribs;
    if (node.name === "base" && href !== undefined) return toAbsoluteUrl(href, url) ?? url;
    for (const child of [...node.children].reverse()) stack.push(child);
  }
  return url;
}
