import type { Element } from "domhandler";
import type { AddressResolver } from "./addresses.ts";
import { cleanText, shortText } from "./clean-text.ts";
import { parseDate } from "./dates.ts";
import { FirstChoice } from "./first-choice.ts";
import { findTexts, type JsonObject } from "./json-ld.ts";

/** Maximum lengths of names and of the texts in which dates are looked for, in UTF-16 code units. */
const MAX_NAME = 128;
const MAX_DATE_TEXT = 200;

/** The kinds of elements around an element, as bits. */
const IN = { author: 1, authorClass: 2, logo: 4, logoLink: 8, article: 16, content: 32 } as const;

/** The ranks of candidates: JSON-LD, meta elements, marked elements, and guesses by class names. Lower ranks win. */
const RANK = { jsonLd: 0, meta: 10, marked: 20, guess: 30 } as const;

/** Reads the author, publisher, dates, logo and picture of a page from its JSON-LD, meta elements and markup. */
export class BylineReader {
  readonly #author = new FirstChoice();
  readonly #publisher = new FirstChoice();
  readonly #published = new FirstChoice();
  readonly #modified = new FirstChoice();
  readonly #otherDate = new FirstChoice();
  readonly #logo = new FirstChoice();
  readonly #image = new FirstChoice();
  readonly #addresses: AddressResolver;

  constructor(addresses: AddressResolver) {
    this.#addresses = addresses;
  }

  /** The results so far. */
  get result() {
    const [published, modified] = [this.#published.value, this.#modified.value];
    return {
      author: this.#author.value,
      publisher: this.#publisher.value,
      date: modified ?? published ?? this.#otherDate.value,
      datePublished: published,
      dateModified: modified,
      logo: this.#logo.value,
      image: this.#image.value,
    };
  }

  /** Reads the JSON-LD objects of the page. */
  addJsonLd(objects: readonly JsonObject[]): void {
    const offer = (choice: FirstChoice, paths: readonly string[], read: (text: string) => string | null) => {
      for (const [place, path] of paths.entries()) {
        for (const text of findTexts(objects, path)) choice.offer(RANK.jsonLd + place / 10, () => read(text));
      }
    };
    offer(this.#author, ["author.name", "author", "creator.name", "creator", "brand.name"], readName);
    offer(this.#publisher, ["publisher.name", "publisher"], (text) => cleanText(text, MAX_NAME));
    offer(this.#published, ["datePublished", "dateCreated", "uploadDate"], parseDate);
    offer(this.#modified, ["dateModified"], parseDate);
    const address = (text: string) => this.#addresses.resolve(text);
    offer(this.#logo, ["publisher.logo.url", "publisher.logo", "logo.url", "logo", "brand.logo"], address);
    for (const text of [...findTexts(objects, "image.url"), ...findTexts(objects, "image")])
      this.#image.offer(RANK.marked, () => address(text));
  }

  /** Reads a meta element. `names`: its `property`, `name` and `itemprop`, in lower case. */
  addMeta(names: readonly string[], content: string): void {
    for (const name of names) {
      const authorPlace = [
        "author",
        "article:author",
        "dc.creator",
        "parsely-author",
        "sailthru.author",
      ].indexOf(name);
      if (authorPlace >= 0) this.#author.offer(RANK.meta + authorPlace, () => readName(content));
      const publisherPlace = findPublisherPlace(name);
      if (publisherPlace >= 0)
        this.#publisher.offer(RANK.meta + publisherPlace, () => cleanText(content, MAX_NAME));
      if (name.includes("published_time") || name === "datepublished")
        this.#offerDate(this.#published, RANK.meta, content);
      else if (name.includes("modified_time") || name === "datemodified")
        this.#offerDate(this.#modified, RANK.meta, content);
      else if (PUBLISHED_NAMES.has(name)) this.#offerDate(this.#published, RANK.meta + 1, content);
      else if (MODIFIED_NAMES.has(name)) this.#offerDate(this.#modified, RANK.meta + 1, content);
      else if (name === "date" || name === "dc.date") this.#offerDate(this.#otherDate, RANK.meta, content);
      else if (name.includes("date")) this.#offerDate(this.#otherDate, RANK.marked, content);
      const imagePlace = IMAGE_NAMES.indexOf(name);
      if (imagePlace >= 0) this.#image.offer(RANK.meta + imagePlace, () => this.#addresses.resolve(content));
      if (name === "og:logo" || name === "logo")
        this.#logo.offer(RANK.meta, () => this.#addresses.resolve(content));
    }
  }

  /**
   * Reads an element of the page's text.
   *
   * @param inside the bits of {@link IN} that this method returned for the parent; 0 for the root
   * @returns the bits for the children
   */
  addElement(element: Element, inside: number): number {
    const { name, attribs } = element;
    const itemprop = (attribs["itemprop"] ?? "").toLowerCase();
    const classes = (attribs["class"] ?? "").toLowerCase();
    const id = (attribs["id"] ?? "").toLowerCase();
    const href = name === "a" ? (attribs["href"] ?? "").toLowerCase() : "";
    this.#readAuthor(element, { itemprop, classes, href, inside });
    this.#readDates(element, { itemprop, classes, id });
    this.#readPublisher(element, { classes, id });
    if (name === "img") this.#readImage(attribs, itemprop, inside);
    return (
      inside |
      (itemprop.includes("author") ? IN.author : 0) |
      (classes.includes("author") ? IN.authorClass : 0) |
      (classes.includes("logo") ? IN.logo : 0) |
      (name === "a" && (inside & IN.logo) > 0 ? IN.logoLink : 0) |
      (name === "article" ? IN.article : 0) |
      (id === "content" ? IN.content : 0)
    );
  }

  /** Uses the title for a publisher that is named nowhere else: `Story | Paper`. */
  addTitle(title: string | null): void {
    const [, ...suffixes] = (title ?? "").split(/[-|–—]\s/);
    const suffix = suffixes.at(-1) ?? "";
    this.#publisher.offer(RANK.guess + 9, () => cleanText(suffix, MAX_NAME));
  }

  #offerDate(choice: FirstChoice, rank: number, text: string | undefined): void {
    if (text !== undefined && text !== "") choice.offer(rank, () => parseDate(text));
  }

  #readAuthor(element: Element, { itemprop, classes, href, inside }: ElementTraits): void {
    const name = () => readName(shortText(element, MAX_NAME) ?? "");
    const fullName = () => {
      const found = name();
      return found?.includes(" ") && parseDate(found) === null && !/\d:\d/.test(found) ? found : null;
    };
    const offer = (place: number, read: () => string | null) => this.#author.offer(RANK.marked + place, read);
    if ((inside & IN.author) > 0 && itemprop.includes("name")) offer(0, name);
    if (itemprop.includes("author")) offer(1, () => name() ?? readName(element.attribs["content"] ?? ""));
    if (/(?:^|\s)author(?:\s|$)/i.test(element.attribs["rel"] ?? "")) offer(2, name);
    const isLink = element.name === "a";
    if (isLink && classes.includes("author")) offer(3, fullName);
    if (isLink && (inside & IN.authorClass) > 0) offer(4, fullName);
    if (href.includes("/author/")) offer(5, fullName);
    if (isLink && classes.includes("screenname")) offer(6, name);
    if (classes.includes("author")) offer(7, fullName);
    if (classes.includes("byline")) offer(8, fullName);
    if (isLink && ((inside & IN.authorClass) > 0 || href.includes("/author/"))) offer(9, name);
  }

  #readDates(
    element: Element,
    { itemprop, classes, id }: Pick<ElementTraits, "itemprop" | "classes"> & { id: string },
  ): void {
    const { name, attribs } = element;
    if (itemprop.includes("date")) {
      const choice = itemprop.includes("modified")
        ? this.#modified
        : itemprop.includes("published")
          ? this.#published
          : this.#otherDate;
      for (const value of [attribs["content"], attribs["datetime"], attribs["title"]])
        this.#offerDate(choice, RANK.marked, value);
      choice.offer(RANK.marked + 1, () => parseDate(shortText(element, MAX_DATE_TEXT)));
    }
    if (name === "time") {
      this.#offerDate(this.#otherDate, RANK.marked + 2, attribs["datetime"]);
      this.#otherDate.offer(RANK.guess, () => parseDate(shortText(element, MAX_DATE_TEXT)));
    }
    const text = () => parseDate(shortText(element, MAX_DATE_TEXT));
    if (classes.includes("publish")) this.#published.offer(RANK.guess, text);
    if (classes.includes("byline")) this.#otherDate.offer(RANK.guess + 1, text);
    if (id.includes("date")) this.#otherDate.offer(RANK.guess + 2, text);
    if (classes.includes("date")) this.#otherDate.offer(RANK.guess + 3, text);
    if (classes.includes("time")) this.#otherDate.offer(RANK.guess + 4, text);
  }

  #readPublisher(element: Element, { classes, id }: { classes: string; id: string }): void {
    const text = () => shortText(element, MAX_NAME);
    if (id === "logo") this.#publisher.offer(RANK.guess, text);
    if (/(?:^|\s)logo(?:\s|$)/.test(classes)) this.#publisher.offer(RANK.guess + 1, text);
    if (element.name === "a" && classes.includes("brand")) this.#publisher.offer(RANK.guess + 2, text);
  }

  #readImage(attribs: Element["attribs"], itemprop: string, inside: number): void {
    const { src, alt = "" } = attribs;
    const address = () => this.#addresses.resolve(src);
    if (itemprop.includes("logo")) this.#logo.offer(RANK.meta + 1, address);
    const publisher = () => cleanText(alt, MAX_NAME);
    if ((inside & IN.logoLink) > 0) this.#publisher.offer(RANK.guess + 3, publisher);
    if ((inside & IN.logo) > 0) this.#publisher.offer(RANK.guess + 4, publisher);
    if (src === undefined || src.startsWith("data:")) return;
    if (itemprop.includes("image")) this.#image.offer(RANK.meta + IMAGE_NAMES.length, address);
    if ((inside & IN.article) > 0) this.#image.offer(RANK.guess, address);
    if ((inside & IN.content) > 0) this.#image.offer(RANK.guess + 1, address);
    if (attribs["aria-hidden"] !== "true") this.#image.offer(RANK.guess + 2, address);
  }
}

/** Attributes of an element in lower case, and the bits of {@link IN} for the elements around it. */
interface ElementTraits {
  readonly itemprop: string;
  readonly classes: string;
  readonly href: string;
  readonly inside: number;
}

const IMAGE_NAMES = [
  ...["og:image:secure_url", "og:image:url", "og:image", "twitter:image:src", "twitter:image"],
  ...["image", "thumbnail"],
];
const PUBLISHED_NAMES = new Set([
  ...["pubdate", "publishdate", "publish-date", "publish_date", "publication_date", "parsely-pub-date"],
  ...[
    "sailthru.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "datecreated",
    "ptime",
    "citation_date",
  ],
]);
const MODIFIED_NAMES = new Set([
  "last-modified",
  "lastmod",
  "revised",
  "dcterms.modified",
  "og:updated_time",
  "utime",
]);

/** The place of a name among those that name the publisher, best first; -1 for other names. */
function findPublisherPlace(name: string): number {
  if (name === "og:site_name") return 0;
  if (name.includes("application-name")) return 1;
  if (name.includes("app-title")) return 2;
  if (name.includes("app_name")) return 3;
  if (name === "publisher" || name === "dc.publisher") return 4;
  return name.startsWith("twitter:app:name:") ? 5 : -1;
}

/** A name of a person or organisation without "by" in front; null if it is an address, empty or too long. */
function readName(text: string): string | null {
  const name = cleanText(text.replace(/^\s*(?:by\s+|@)/i, ""), MAX_NAME + 1);
  if (name === null || name.length > MAX_NAME) return null;
  return /^(?:https?:|www\.|\/\/)/i.test(name) ? null : name;
}
