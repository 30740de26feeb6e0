import type { ChildNode, Element } from "domhandler";
import type { NamedTexts } from "../../core/ports/page-browser.ts";
import { parseHtml, rawText } from "../technologies/html-parser.ts";
import type { PageMetadata } from "./result.ts";

/** The rest of longer HTML is not parsed, in UTF-16 code units. */
const MAX_HTML = 2_000_000;
/** Lengths in UTF-16 code units. Longer texts are truncated; longer addresses and names are omitted. */
const MAX_TITLE = 1_000;
const MAX_DESCRIPTION = 5_000;
const MAX_VALUE = 2_000;
const MAX_ADDRESS = 2_048;
const MAX_NAME = 100;
/** Maximum number of Open Graph properties, icons and feeds in the result. */
const MAX_PROPERTIES = 100;
const MAX_LINKS = 50;
/**
 * Maximum number of `link` elements to check and of addresses to resolve: the cost of each grows with the length of the
 * page's base address.
 */
const MAX_CHECKED_LINKS = 1_000;
const MAX_RESOLVED = 500;

/** Elements whose content is not part of the page, or is visible only without scripts. */
const SKIPPED_ELEMENTS = new Set(["svg", "math", "template", "noscript", "iframe", "script", "style"]);
const ICONS = new Set([
  "icon",
  "apple-touch-icon",
  "apple-touch-icon-precomposed",
  "mask-icon",
  "fluid-icon",
]);
const FEEDS = new Set([
  "application/rss+xml",
  "application/atom+xml",
  "application/feed+json",
  "application/rdf+xml",
]);
/** Open Graph properties with addresses as values (ogp.me). */
const ADDRESSES = /^(?:url|(?:image|video|audio)(?::(?:url|secure_url))?)$/;

/**
 * Reads the metadata of a page.
 *
 * @param page `url` is the final URL; `headers` are the response headers, by name in lower case
 */
export function parseMetadata(page: {
  readonly html: string;
  readonly url: string;
  readonly headers: NamedTexts;
}): PageMetadata {
  const { children } = parseHtml(page.html.slice(0, MAX_HTML));
  const collector = new MetadataCollector(findBase(children, page.url));
  for (const element of walkElements(children)) collector.addElement(element);
  const openGraph = Object.fromEntries(collector.properties);
  return {
    title: collector.title ?? collector.properties.get("title") ?? null,
    description: collector.description ?? collector.properties.get("description") ?? null,
    canonical: collector.canonical ?? findCanonicalLink(page.headers["link"] ?? [], page.url),
    language: collector.language ?? firstLanguageTag(page.headers["content-language"]?.[0]),
    openGraph,
    icons: collector.icons,
    feeds: collector.feeds,
  };
}

/** Collects metadata in one walk over a document: the first usable value of each kind. */
class MetadataCollector {
  title: string | null = null;
  description: string | null = null;
  canonical: string | null = null;
  language: string | null = null;
  /** Open Graph properties without `og:`. */
  readonly properties = new Map<string, string>();
  readonly icons: PageMetadata["icons"][number][] = [];
  readonly feeds: PageMetadata["feeds"][number][] = [];
  readonly #base: string;
  #checkedLinks = 0;
  /** Starts at 1 for the base address itself. */
  #resolved = 1;

  /** @param base the address against which others are resolved */
  constructor(base: string) {
    this.#base = base;
  }

  /** Reads the next element of the document. */
  addElement(element: Element): void {
    const { name, attribs } = element;
    if (name === "html") this.language ??= firstLanguageTag(attribs["lang"] ?? attribs["xml:lang"]);
    else if (name === "title") this.title ??= cleanText(rawText(element), MAX_TITLE);
    else if (name === "meta") this.#readMeta(attribs);
    else if (name === "link") this.#readLink(attribs);
  }

  #readMeta(attribs: Element["attribs"]): void {
    const { content = "" } = attribs;
    if ((attribs["http-equiv"] ?? "").toLowerCase() === "content-language")
      this.language ??= firstLanguageTag(content);
    // Many pages write `name` instead of `property`.
    for (const attribute of new Set([attribs["property"], attribs["name"]])) {
      const name = (attribute ?? "").trim().toLowerCase();
      if (name === "description") this.description ??= cleanText(content, MAX_DESCRIPTION);
      if (name.startsWith("og:")) this.#readProperty(name.slice(3), content);
    }
  }

  #readProperty(name: string, content: string): void {
    if (name === "" || name.length > MAX_NAME) return;
    if (this.properties.size >= MAX_PROPERTIES || this.properties.has(name)) return;
    const value = ADDRESSES.test(name) ? this.#absolute(content) : cleanText(content, MAX_VALUE);
    if (value !== null) this.properties.set(name, value);
  }

  #readLink(attribs: Element["attribs"]): void {
    if (++this.#checkedLinks > MAX_CHECKED_LINKS) return;
    const kinds = (attribs["rel"] ?? "").toLowerCase().split(/\s+/);
    const type = cleanText(attribs["type"] ?? "", MAX_NAME)?.toLowerCase() ?? null;
    const isCanonical = this.canonical === null && kinds.includes("canonical");
    const rel = this.icons.length < MAX_LINKS ? kinds.find((kind) => ICONS.has(kind)) : undefined;
    const isFeed = kinds.includes("alternate") && FEEDS.has(type?.split(";")[0]?.trim() ?? "");
    const feed = isFeed && this.feeds.length < MAX_LINKS ? type : null;
    if (!isCanonical && rel === undefined && feed === null) return;
    const url = this.#absolute(attribs["href"] ?? "");
    if (url === null) return;
    if (isCanonical) this.canonical = url;
    if (rel !== undefined) {
      this.icons.push({ url, rel, type, sizes: cleanText(attribs["sizes"] ?? "", MAX_NAME) });
    }
    if (feed !== null) {
      this.feeds.push({ url, type: feed, title: cleanText(attribs["title"] ?? "", MAX_TITLE) });
    }
  }

  #absolute(address: string): string | null {
    return ++this.#resolved > MAX_RESOLVED ? null : toAbsoluteUrl(address, this.#base);
  }
}

/** The document's own elements, in order. Uses a stack instead of recursion, because a page may nest elements deeply. */
function* walkElements(children: readonly ChildNode[]): Generator<Element> {
  const stack = [{ children, next: 0 }];
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const node = level.children[level.next++];
    if (node === undefined) stack.pop();
    else if ("attribs" in node && !SKIPPED_ELEMENTS.has(node.name)) {
      yield node;
      stack.push({ children: node.children, next: 0 });
    }
  }
}

/** The base address of a document. It also applies to addresses before the first `base` element. */
function findBase(children: readonly ChildNode[], url: string): string {
  for (const { name, attribs } of walkElements(children)) {
    const { href } = attribs;
    if (name === "base" && href !== undefined) return toAbsoluteUrl(href, url) ?? url;
  }
  return url;
}

/** The absolute http(s) address; null if it is invalid or too long. */
function toAbsoluteUrl(address: string, base: string): string | null {
  if (address.trim() === "" || !URL.canParse(address, base)) return null;
  const { protocol, href } = new URL(address, base);
  return /^https?:$/.test(protocol) && href.length <= MAX_ADDRESS ? href : null;
}

/** The text with collapsed white space, truncated to a length; null if it is empty. */
function cleanText(text: string, maxLength: number): string | null {
  return (
    text
      .slice(0, 4 * maxLength)
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, maxLength)
      .trimEnd() || null
  );
}

/** The first of a list of language tags; null if it does not look like a tag. */
function firstLanguageTag(text: string | undefined): string | null {
  const tag = text?.split(",")[0]?.trim() ?? "";
  return /^[a-z]{1,8}(?:[-_][a-z0-9]{1,8}){0,4}$/i.test(tag) ? tag : null;
}

/** The canonical address in `Link` headers (RFC 8288, RFC 6596). */
function findCanonicalLink(links: readonly string[], url: string): string | null {
  for (const [, address = "", parameters = ""] of links
    .slice(0, MAX_LINKS)
    .flatMap((text) => [...text.slice(0, 4 * MAX_ADDRESS).matchAll(/<([^<>]*)>([^<]*)/g)])) {
    // The first of several counts. The names are split in a second step: a single regular expression would backtrack.
    const [, quoted, unquoted = ""] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
    const kinds = (quoted ?? unquoted).toLowerCase().split(/\s+/);
    if (kinds.includes("canonical")) return toAbsoluteUrl(address, url);
  }
  return null;
}
