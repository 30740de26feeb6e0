import type { Element } from "domhandler";
import { rawText } from "../technologies/html-parser.ts";
import type { AddressResolver } from "./addresses.ts";
import { cleanText, firstLanguageTag } from "./clean-text.ts";
import type { PageMetadata } from "./result.ts";

/** Lengths in UTF-16 code units. Longer texts are truncated; longer names are omitted. */
export const MAX_TITLE = 1_000;
const MAX_DESCRIPTION = 5_000;
const MAX_VALUE = 2_000;
const MAX_NAME = 100;
/** Maximum number of properties of one vocabulary, of keywords, and of icons, feeds and images. */
const MAX_PROPERTIES = 100;
export const MAX_LINKS = 50;
/** Maximum number of `link` elements to check. */
const MAX_CHECKED_LINKS = 1_000;

const ICONS = new Set([
  "icon",
  "apple-touch-icon",
  "apple-touch-icon-precomposed",
  "mask-icon",
  "fluid-icon",
]);
const FEEDS = new Set([
  ...["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"],
]);
/** Properties with addresses as values, without the prefix of their vocabulary (ogp.me). */
const ADDRESSES = /^(?:url|player|(?:image|video|audio)(?::(?:url|src|secure_url))?|player:stream)$/;

/** Whether a link leads to a feed (RSS Autodiscovery; RFC 4287). */
export function isFeed(kinds: readonly string[], type: string): boolean {
  const isAlternate =
    kinds.includes("alternate") || kinds.includes("feed") || kinds.every((kind) => kind === "");
  return isAlternate && FEEDS.has(type.split(";")[0]?.trim() ?? "");
}

/** Properties of one vocabulary. A value of the attribute `property` wins over one of `name`; the first of each counts. */
class Vocabulary {
  readonly #byProperty = new Map<string, string>();
  readonly #byName = new Map<string, string>();

  /** The values, `name` without the prefix. */
  get values(): Map<string, string> {
    return new Map([...this.#byName, ...this.#byProperty].slice(0, 2 * MAX_PROPERTIES));
  }

  add(name: string, isProperty: boolean, read: () => string | null): void {
    const values = isProperty ? this.#byProperty : this.#byName;
    if (name === "" || name.length > MAX_NAME || values.has(name) || values.size >= MAX_PROPERTIES) return;
    const value = read();
    if (value !== null) values.set(name, value);
  }
}

type OpenGraphImage = PageMetadata["images"][number];

/** Collects metadata of meta, link and title elements in one walk over a document: the first usable value of each kind. */
export class MetaCollector {
  title: string | null = null;
  description: string | null = null;
  canonical: string | null = null;
  language: string | null = null;
  robots: string | null = null;
  generator: string | null = null;
  readonly keywords: string[] = [];
  readonly openGraph = new Vocabulary();
  readonly twitter = new Vocabulary();
  readonly images: OpenGraphImage[] = [];
  readonly icons: PageMetadata["icons"][number][] = [];
  readonly feeds: PageMetadata["feeds"][number][] = [];
  readonly #addresses: AddressResolver;
  #checkedLinks = 0;
  /** The image to which the next details belong; null: none, or one that is left out. */
  #image: OpenGraphImage | null = null;

  constructor(addresses: AddressResolver) {
    this.#addresses = addresses;
  }

  /** Reads the next element of the document. */
  addElement(element: Element): void {
    const { name, attribs } = element;
    if (name === "html") this.language ??= firstLanguageTag(attribs["lang"] ?? attribs["xml:lang"]);
    else if (name === "title") this.title ??= cleanText(rawText(element), MAX_TITLE);
    else if (name === "meta") this.#readMeta(attribs);
    else if (name === "link") this.#readLink(attribs);
  }

  /** Adds a feed, unless it is known. */
  addFeed(feed: PageMetadata["feeds"][number]): void {
    if (this.feeds.length < MAX_LINKS && this.feeds.every(({ url }) => url !== feed.url))
      this.feeds.push(feed);
  }

  #readMeta(attribs: Element["attribs"]): void {
    const { content = "" } = attribs;
    if ((attribs["http-equiv"] ?? "").toLowerCase() === "content-language")
      this.language ??= firstLanguageTag(content);
    const seen = new Set<string>();
    for (const attribute of ["property", "name"] as const) {
      // Several properties may stand in one attribute (RDFa).
      for (const name of (attribs[attribute] ?? "").trim().toLowerCase().split(/\s+/, 5)) {
        if (name === "" || seen.has(name)) continue;
        seen.add(name);
        this.#readNamed(name, attribute === "property", content);
      }
    }
  }

  #readNamed(name: string, isProperty: boolean, content: string): void {
    if (name === "description") this.description ??= cleanText(content, MAX_DESCRIPTION);
    else if (name === "robots") this.robots ??= cleanText(content, MAX_VALUE);
    else if (name === "generator") this.generator ??= cleanText(content, MAX_VALUE);
    else if (name === "keywords" || name === "news_keywords")
      this.#addKeywords(content.split(/[,;，、]/, MAX_PROPERTIES));
    else if (name === "article:tag") this.#addKeywords([content]);
    else if (name.startsWith("og:")) this.#readOpenGraph(name.slice(3), isProperty, content);
    else if (name.startsWith("twitter:")) {
      const property = name.slice(8);
      this.twitter.add(property, isProperty, () => this.#readValue(property, content));
    }
  }

  #addKeywords(texts: readonly string[]): void {
    for (const text of texts) {
      const keyword = cleanText(text, MAX_NAME);
      if (keyword !== null && this.keywords.length < MAX_PROPERTIES && !this.keywords.includes(keyword))
        this.keywords.push(keyword);
    }
  }

  #readOpenGraph(name: string, isProperty: boolean, content: string): void {
    this.openGraph.add(name, isProperty, () => this.#readValue(name, content));
    if (name === "image" || name.startsWith("image:")) this.#readOpenGraphImage(name.slice(6), content);
  }

  /** Collects all images with their details: each `og:image` begins another one (ogp.me, structured properties). */
  #readOpenGraphImage(detail: string, content: string): void {
    if (detail === "" || (detail === "url" && this.images.length === 0)) {
      this.#image = this.#findOrAddImage(content);
      return;
    }
    const image = this.#image;
    if (image === null) return;
    if (detail === "width" || detail === "height") image[detail] ??= readPixels(content);
    else if (detail === "type") image.type ??= cleanText(content, MAX_NAME);
    else if (detail === "alt") image.alt ??= cleanText(content, MAX_VALUE);
  }

  #findOrAddImage(address: string): OpenGraphImage | null {
    const url = this.images.length < MAX_LINKS ? this.#addresses.resolve(address) : null;
    if (url === null) return null;
    const known = this.images.find((image) => image.url === url);
    if (known !== undefined) return known;
    const image = { url, width: null, height: null, type: null, alt: null };
    this.images.push(image);
    return image;
  }

  #readValue(name: string, content: string): string | null {
    return ADDRESSES.test(name) ? this.#addresses.resolve(content) : cleanText(content, MAX_VALUE);
  }

  #readLink(attribs: Element["attribs"]): void {
    if (++this.#checkedLinks > MAX_CHECKED_LINKS) return;
    const kinds = (attribs["rel"] ?? "").toLowerCase().split(/\s+/);
    const type = cleanText(attribs["type"] ?? "", MAX_NAME)?.toLowerCase() ?? null;
    const isCanonical = this.canonical === null && kinds.includes("canonical");
    const rel = this.icons.length < MAX_LINKS ? kinds.find((kind) => ICONS.has(kind)) : undefined;
    const feed = isFeed(kinds, type ?? "") && this.feeds.length < MAX_LINKS ? type : null;
    if (!isCanonical && rel === undefined && feed === null) return;
    const url = this.#addresses.resolve(attribs["href"]);
    if (url === null) return;
    if (isCanonical) this.canonical = url;
    if (rel !== undefined)
      this.icons.push({ url, rel, type, sizes: cleanText(attribs["sizes"] ?? "", MAX_NAME) });
    if (feed !== null)
      this.feeds.push({ url, type: feed, title: cleanText(attribs["title"] ?? "", MAX_TITLE) });
  }
}

function readPixels(text: string): number | null {
  const pixels = /^\s*(\d{1,6})(?:px)?\s*$/.exec(text)?.[1];
  return pixels === undefined ? null : Number(pixels);
}
