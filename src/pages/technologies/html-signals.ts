import type { ChildNode, Element } from "domhandler";
import type { PageSignals } from "../../core/ports/page-browser.ts";
import { MAX_HTML } from "../browser/html-limit.ts";
import type { TechnologyDetector } from "./detector.ts";
import { parseHtml, rawText } from "./html-parser.ts";
import type { ParsedDocument } from "./selector-matcher.ts";

/** The signals of a page, as far as the HTML and the response headers contain them. */
export type HtmlSignals = PageSignals & {
  /** Absolute http(s) addresses of linked style sheets, which the caller may load. */
  readonly stylesheets: readonly string[];
  /** The content of the page's `http-equiv=refresh`; null if there is none. */
  readonly refresh: string | null;
};

/** A longer base address is ignored, in UTF-16 code units: each resolved address would be at least as long. */
const MAX_BASE = 2_048;
/** Maximum addresses of scripts, or of style sheets, to read; far fewer are used. */
const MAX_ADDRESSES = 1_000;
const INVISIBLE_ELEMENTS = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "head",
  "title",
  "textarea",
  "iframe",
]);

/**
 * Reads the signals of a page from its HTML, when no browser loads it.
 *
 * @param page `url` is the final URL; `headers` are the response headers
 * @param detector evaluates the fingerprints' selectors on the document; without it there are no `dom` signals
 */
export function signalsFromHtml(
  page: { readonly html: string; readonly headers: Headers; readonly url: string },
  detector?: TechnologyDetector,
): HtmlSignals {
  const collector = new SignalCollector(page.url);
  const document = parseHtml(page.html.slice(0, MAX_HTML));
  collector.walk(document.children);
  const parsed: ParsedDocument = {
    document,
    attributes: collector.attributes.join("\n"),
    depthSum: collector.depthSum,
  };
  return {
    url: page.url,
    html: page.html,
    text: collector.text.join(" ").replace(/\s+/g, " ").trim(),
    headers: headerSignals(page.headers),
    cookies: parseCookieSignals(page.headers.getSetCookie()),
    meta: collector.meta,
    scriptSrc: [...collector.scriptSrc],
    inlineScripts: collector.inlineScripts,
    css: collector.css,
    dom: detector?.domSignals(parsed) ?? [],
    stylesheets: [...collector.stylesheets],
    refresh: collector.refresh,
  };
}

/** Collects signals in one walk over a document. */
class SignalCollector {
  readonly attributes: string[] = [];
  readonly text: string[] = [];
  readonly meta: Record<string, string[]> = Object.create(null);
  readonly scriptSrc = new Set<string>();
  readonly inlineScripts: string[] = [];
  readonly css: string[] = [];
  readonly stylesheets = new Set<string>();
  depthSum = 0;
  refresh: string | null = null;
  #base: string;
  #hasBase = false;

  constructor(url: string) {
    this.#base = url.length <= MAX_BASE ? url : shortenBase(url);
  }

  /** Uses a stack instead of recursion, because a page may nest elements without limit. */
  walk(children: readonly ChildNode[]): void {
    const stack = [{ children, next: 0, visible: true }];
    for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
      const node = level.children[level.next++];
      if (node === undefined) stack.pop();
      else if (node.type === "text") {
        if (level.visible) this.text.push(node.data);
      } else if ("attribs" in node) {
        this.#addElement(node);
        this.depthSum += stack.length;
        const visible = level.visible && !INVISIBLE_ELEMENTS.has(node.name);
        stack.push({ children: node.children, next: 0, visible });
      }
    }
  }

  #addElement(element: Element): void {
    for (const [name, value] of Object.entries(element.attribs)) this.attributes.push(name, value);
    switch (element.name) {
      case "base":
        this.#setBase(element.attribs["href"]);
        break;
      case "meta":
        this.#readMeta(element);
        break;
      case "script":
        this.#readScript(element);
        break;
      case "style":
        this.css.push(rawText(element));
        break;
      case "link":
        this.#readLink(element);
        break;
    }
  }

  #setBase(href: string | undefined): void {
    if (this.#hasBase || href === undefined) return;
    this.#hasBase = true;
    const base = this.#absolute(href) ?? this.#base;
    if (base.length <= MAX_BASE) this.#base = base;
  }

  #readMeta(element: Element): void {
    const { attribs } = element;
    if (attribs["http-equiv"]?.trim().toLowerCase() === "refresh" && !isInert(element))
      this.refresh ??= attribs["content"] ?? null;
    const name = (attribs["name"] || attribs["property"] || "").toLowerCase();
    if (name === "" || attribs["content"] === undefined) return;
    const values = this.meta[name] ?? [];
    this.meta[name] = values;
    values.push(attribs["content"]);
  }

  #readScript(element: Element): void {
    const { src } = element.attribs;
    if (src) {
      const address = this.scriptSrc.size < MAX_ADDRESSES ? this.#absolute(src) : undefined;
      if (address !== undefined) this.scriptSrc.add(address);
      return;
    }
    const source = rawText(element);
    if (source.trim() !== "") this.inlineScripts.push(source);
  }

  #readLink({ attribs }: Element): void {
    if (this.stylesheets.size >= MAX_ADDRESSES) return;
    const kinds = (attribs["rel"] ?? "").toLowerCase().split(/\s+/);
    const address =
      attribs["href"] && kinds.includes("stylesheet") ? this.#absolute(attribs["href"]) : undefined;
    if (address !== undefined && /^https?:/.test(address)) this.stylesheets.add(address);
  }

  #absolute(address: string): string | undefined {
    return URL.canParse(address, this.#base) ? new URL(address, this.#base).href : undefined;
  }
}

/** The folder of an address that is too long as a base; if that is too long as well, the site's root. */
function shortenBase(url: string): string {
  const folder = new URL(".", url).href;
  return folder.length <= MAX_BASE ? folder : new URL("/", url).href;
}

/** Whether an element is inactive in a browser with scripts. */
function isInert({ parent }: Element): boolean {
  for (let above = parent; above !== null; above = above.parent) {
    if ("name" in above && (above.name === "noscript" || above.name === "template")) return true;
  }
  return false;
}

/** Response headers as signals; each `set-cookie` header is a separate text. */
export function headerSignals(headers: Headers): Record<string, string[]> {
  const texts: Record<string, string[]> = Object.create(null);
  for (const [name, value] of headers) {
    if (name !== "set-cookie") texts[name] = [value];
  }
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) texts["set-cookie"] = cookies;
  return texts;
}

/** Cookies as signals, from the values of `set-cookie` headers (RFC 6265, section 5.2). */
export function parseCookieSignals(setCookies: readonly string[]): Record<string, string[]> {
  const cookies: Record<string, string[]> = Object.create(null);
  for (const line of setCookies) {
    const pair = line.split(";", 1)[0] ?? "";
    const equals = pair.indexOf("=");
    if (equals <= 0) continue;
    cookies[pair.slice(0, equals).trim()] = [pair.slice(equals + 1).trim()];
  }
  return cookies;
}
