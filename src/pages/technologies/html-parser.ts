import { type Document, DomHandler, type Element } from "domhandler";
import { Parser } from "htmlparser2";

/** Browsers use the same maximum depth: deeper elements become siblings. */
const MAX_DEPTH = 512;

class DepthHandler extends DomHandler {
  /** Number of open elements. */
  get depth(): number {
    return this.tagStack.length - 1;
  }
}

/**
 * A parser that limits the depth to {@link MAX_DEPTH}. It searches its list of open elements at each tag, and walks
 * over the document go equally deep. Deeper elements stay empty, and their content follows them.
 */
class ShallowParser extends Parser {
  readonly #handler: DepthHandler;
  /** Number of open elements beyond the limit, by name: their end tags close nothing. */
  readonly #beyond = new Map<string, number>();
  #closing = false;
  /** Whether the current opening tag is beyond the limit; null if not determined yet. */
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

  /** Treats an element beyond the limit as void: the parser neither keeps it open nor closes it by an end tag. */
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

/** Parses HTML, with the maximum depth of browsers (512). Takes linear time. */
export function parseHtml(html: string): Document {
  const handler = new DepthHandler();
  new ShallowParser(handler).end(html);
  return handler.root;
}

/** The text of an element without child elements, such as a script, a style or a title. */
export function rawText(element: Element): string {
  return element.children.map((child) => (child.type === "text" ? child.data : "")).join("");
}
