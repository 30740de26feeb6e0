import { type Document, DomHandler, type Element } from "domhandler";
import { Parser } from "htmlparser2";

/** Browsers nest elements no deeper either: those beyond are siblings of one another. */
const MAX_DEPTH = 512;

class DepthHandler extends DomHandler {
  /** How many elements are open. */
  get depth(): number {
    return this.tagStack.length - 1;
  }
}

/**
 * A parser that nests no deeper than {@link MAX_DEPTH}: its list of open elements is gone through with each tag, and whoever
 * walks over the document goes as deep as it does. Elements beyond are empty, their content follows them.
 */
class ShallowParser extends Parser {
  readonly #handler: DepthHandler;
  /** By name, how many elements beyond the limit are open: their end tags close nothing. */
  readonly #beyond = new Map<string, number>();
  #closing = false;
  /** Whether the present opening tag is beyond the limit; null: not asked yet. */
  #isBeyond: boolean | null = null;

  constructor(handler: DepthHandler) {
    super(handler);
    this.#handler = handler;
  }

  override onopentagname(start: number, endIndex: number): void {
    this.#isBeyond = null;
    super.onopentagname(start, endIndex);
  }

  override onclosetag(start: number, endIndex: number): void {
    this.#closing = true;
    super.onclosetag(start, endIndex);
    this.#closing = false;
  }

  /** What is void is neither kept open nor closed by an end tag. */
  override isVoidElement(name: string): boolean {
    if (super.isVoidElement(name)) return true;
    const beyond = this.#beyond.get(name) ?? 0;
    if (this.#closing) {
      if (beyond > 0) this.#beyond.set(name, beyond - 1);
      return beyond > 0;
    }
    if (this.#isBeyond === null) {
      this.#isBeyond = this.#handler.depth >= MAX_DEPTH;
      if (this.#isBeyond) this.#beyond.set(name, beyond + 1);
    }
    return this.#isBeyond;
  }
}

/** The document that a text is, nested as browsers nest it: at most 512 deep. Takes linear time. */
export function parseHtml(html: string): Document {
  const handler = new DepthHandler();
  new ShallowParser(handler).end(html);
  return handler.root;
}

/** The text of an element that has no elements inside, such as a script, a style or a title. */
export function rawText(element: Element): string {
  return element.children.map((child) => (child.type === "text" ? child.data : "")).join("");
}
