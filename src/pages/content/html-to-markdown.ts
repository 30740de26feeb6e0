import { type ChildNode, type Document, type Element, isTag, isText } from "domhandler";
import { textContent } from "domutils";

/** Elements that are no part of the text. */
const SKIPPED: ReadonlySet<string> = new Set([
  ...["head", "title", "script", "style", "template", "noscript"],
  ...["svg", "math", "iframe", "object", "select", "textarea"],
]);
/** Elements whose text stands by itself. */
const BLOCKS: ReadonlySet<string> = new Set([
  ...["address", "article", "aside", "body", "details", "dd", "div", "dl", "dt"],
  ...["fieldset", "figcaption", "figure"],
  ...["footer", "form", "header", "html", "legend", "main", "nav", "p", "section", "summary"],
]);
const HEADING = /^h([1-6])$/;
/** Marks around inline elements. */
const MARKS: ReadonlyMap<string, string> = new Map([
  ...["strong", "b"].map((name) => [name, "**"] as const),
  ...["em", "i"].map((name) => [name, "*"] as const),
  ...["del", "s"].map((name) => [name, "~~"] as const),
]);

/**
 * Maximum levels of quotes and lists, and of marks, that are shown. Each level copies the text in it: without a limit, a
 * hostile page would cost the square of its size.
 */
const MAX_INDENTS = 10;
const MAX_MARKS = 8;

/** How to convert. */
export interface ConversionOptions {
  /** `text` has no marks but those of list items. */
  readonly form: "markdown" | "text";
  /** The page's address, to which relative links belong. */
  readonly url: string;
}

/** Converts a parsed document to Markdown (CommonMark with tables) or to plain text. */
export function convertDocument(document: Document, options: ConversionOptions): string {
  return joinBlocks(new Converter(options).blocks(document.children)).concat("\n");
}

const joinBlocks = (blocks: readonly string[]): string => blocks.join("\n\n");

class Converter {
  readonly #isMarkdown: boolean;
  readonly #base: string;
  #indents = 0;
  #marks = 0;

  constructor({ form, url }: ConversionOptions) {
    this.#isMarkdown = form === "markdown";
    this.#base = url;
  }

  /** The blocks of some nodes; inline nodes between block elements make a block together. */
  blocks(nodes: readonly ChildNode[]): string[] {
    const blocks: string[] = [];
    let inline: ChildNode[] = [];
    const endInline = () => {
      const text = this.#line(inline);
      if (text !== "") blocks.push(text);
      inline = [];
    };
    for (const node of nodes) {
      const own = isTag(node) ? this.#block(node) : null;
      if (own === null) inline.push(node);
      else {
        endInline();
        for (const block of own) blocks.push(block);
      }
    }
    endInline();
    return blocks;
  }

  /** The blocks of a block element; null for an inline one. */
  #block(element: Element): string[] | null {
    const { name, children } = element;
    if (SKIPPED.has(name)) return [];
    const level = Number(HEADING.exec(name)?.[1] ?? 0);
    if (level > 0) return this.#heading(level, children);
    switch (name) {
      case "ul":
      case "ol":
        return this.#nested(children, () => this.#list(element));
      case "blockquote":
        return this.#nested(children, () => this.#prefixed(children, "> "));
      case "pre":
        return this.#code(element);
      case "table":
        return this.#nested(children, () => this.#table(element));
      case "hr":
        return this.#isMarkdown ? ["---"] : [];
      default:
        // An inline element around blocks, such as a link around a card, is a block, too.
        return BLOCKS.has(name) || children.some((child) => isTag(child) && isBlock(child))
          ? this.blocks(children)
          : null;
    }
  }

  #heading(level: number, children: readonly ChildNode[]): string[] {
    const text = this.#line(children);
    if (text === "") return [];
    return [this.#isMarkdown ? `${"#".repeat(level)} ${text.replaceAll("\n", " ")}` : text];
  }

  /** The blocks of a quote, list or table; beyond the maximum levels those of its children. */
  #nested(children: readonly ChildNode[], format: () => string[]): string[] {
    if (this.#indents >= MAX_INDENTS) return this.blocks(children);
    this.#indents++;
    const blocks = format();
    this.#indents--;
    return blocks;
  }

  #prefixed(children: readonly ChildNode[], prefix: string): string[] {
    const text = joinBlocks(this.blocks(children));
    if (text === "") return [];
    return [this.#isMarkdown ? indent(text, prefix, prefix) : text];
  }

  #code(element: Element): string[] {
    const text = textContent(element).replace(/\n$/, "");
    if (text.trim() === "") return [];
    if (!this.#isMarkdown) return [text];
    const fence = "`".repeat(Math.max(3, longestBacktickRun(text) + 1));
    return [`${fence}\n${text}\n${fence}`];
  }

  #list({ name, attribs, children }: Element): string[] {
    const first = /^\d{1,6}$/.test(attribs["start"] ?? "") ? Number(attribs["start"]) : 1;
    const items = children
      .filter((child) => isTag(child))
      .map((item, index) => {
        const marker = name === "ol" ? `${first + index}. ` : "- ";
        const text = this.blocks(isBlockList(item) ? [item] : item.children).join("\n");
        return text === "" ? "" : indent(text, marker, " ".repeat(marker.length));
      })
      .filter((item) => item !== "");
    return items.length === 0 ? [] : [items.join("\n")];
  }

  #table(table: Element): string[] {
    const rows = findRows(table).map((row) =>
      row.children
        .filter((cell): cell is Element => isTag(cell) && (cell.name === "td" || cell.name === "th"))
        .map((cell) => joinBlocks(this.blocks(cell.children)).replace(/\s+/g, " ")),
    );
    const columns = rows.reduce((most, { length }) => Math.max(most, length), 0);
    if (columns === 0) return [];
    // A table of one column is a layout.
    if (columns === 1) return rows.flat().filter((text) => text !== "");
    if (!this.#isMarkdown) return [rows.map((row) => row.join("\t")).join("\n")];
    const line = (cells: readonly string[]) =>
      `| ${Array.from({ length: columns }, (_, at) => (cells[at] ?? "").replaceAll("|", "\\|")).join(" | ")} |`;
    const [head = [], ...body] = rows;
    return [[line(head), line(Array.from({ length: columns }, () => "---")), ...body.map(line)].join("\n")];
  }

  /** The text of the inline nodes of a block, with collapsed white space. */
  #line(nodes: readonly ChildNode[]): string {
    const text = this.#inline(nodes)
      .replace(/ +/g, " ")
      .replace(/ ?\n ?/g, "\n")
      .trim();
    return this.#isMarkdown ? escapeLineStarts(text) : text;
  }

  #inline(nodes: readonly ChildNode[]): string {
    return nodes.map((node) => this.#inlineNode(node)).join("");
  }

  #inlineNode(node: ChildNode): string {
    if (isText(node)) {
      const text = node.data.replace(/\s+/g, " ");
      return this.#isMarkdown ? escapeText(text) : text;
    }
    if (!isTag(node) || SKIPPED.has(node.name)) return "";
    if (node.name === "br") return "\n";
    if (!this.#isMarkdown) return this.#inline(node.children);
    if (node.name === "img") return this.#image(node);
    if (node.name === "code") return codeSpan(textContent(node));
    const mark = MARKS.get(node.name) ?? "";
    if ((node.name !== "a" && mark === "") || this.#marks >= MAX_MARKS) return this.#inline(node.children);
    this.#marks++;
    const text = this.#inline(node.children);
    this.#marks--;
    if (text.trim() === "") return text;
    return node.name === "a" ? this.#link(node, text) : surround(text, mark, mark);
  }

  #link({ attribs }: Element, text: string): string {
    const address = this.#address(attribs["href"]);
    return address === null ? text : surround(text, "[", `](${address})`);
  }

  #image({ attribs }: Element): string {
    const address = this.#address(attribs["src"]);
    const alt = (attribs["alt"] ?? "").replace(/[\\[\]\s]+/g, " ").trim();
    return address === null ? alt : `![${alt}](${address})`;
  }

  /** An absolute http(s) address that Markdown can contain; null for any other. */
  #address(reference = ""): string | null {
    if (reference.startsWith("#") || !URL.canParse(reference, this.#base)) return null;
    const { protocol, href } = new URL(reference, this.#base);
    if (protocol !== "http:" && protocol !== "https:") return null;
    return href.replaceAll("(", "%28").replaceAll(")", "%29");
  }
}

function isBlock({ name }: Element): boolean {
  return BLOCKS.has(name) || HEADING.test(name) || ["ul", "ol", "blockquote", "pre", "table"].includes(name);
}

function isBlockList({ name }: Element): boolean {
  return name === "ul" || name === "ol";
}

/** The rows of a table, without those of tables in it. */
function findRows({ children }: Element): Element[] {
  return children.flatMap((child) => {
    if (!isTag(child)) return [];
    if (child.name === "tr") return [child];
    return ["thead", "tbody", "tfoot"].includes(child.name) ? findRows(child) : [];
  });
}

/** Escapes what would be a mark, a tag or an entity anywhere in Markdown. */
function escapeText(text: string): string {
  return text.replace(/[\\`*_[\]<~]|&(?=#?\w{1,32};)/g, "\\$&");
}

/** Escapes what would begin a heading, a list, a quote or a rule at the start of a line. */
function escapeLineStarts(text: string): string {
  return text
    .replace(/^(?:#{1,6}(?= |$)|[-+](?= |$)|-(?=-)|>|=(?==*$))/gm, "\\$&")
    .replace(/^(\d{1,9})([.)])(?= |$)/gm, "$1\\$2");
}

/** Code in a line, between more backticks than it contains (CommonMark, code spans). */
function codeSpan(code: string): string {
  const text = code.replace(/\s+/g, " ");
  if (text.trim() === "") return text;
  const fence = "`".repeat(longestBacktickRun(text) + 1);
  const space = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return fence + space + text + space + fence;
}

function longestBacktickRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Puts marks around a text, inside its outer white space. */
function surround(text: string, before: string, after: string): string {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  return text.slice(0, start) + before + text.slice(start, end) + after + text.slice(end);
}

function indent(text: string, first: string, rest: string): string {
  return text
    .split("\n")
    .map((line, index) => (index === 0 ? first : line === "" ? rest.trimEnd() : rest) + line)
    .join("\n");
}
