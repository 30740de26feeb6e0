/** Whatever JSON has to escape. */
const ESCAPED = /["\\\ud800-\udfff]|[^\u0020-\uffff]/;

/** JSON text of one string, without its quotes. */
function escapeJson(text: string): string {
  if (!ESCAPED.test(text)) return text;
  return JSON.stringify(text).slice(1, -1);
}

function oneOrMany(sources: readonly string[]): string {
  const [first = '""'] = sources;
  return sources.length === 1 ? first : `[${sources.join(",")}]`;
}

/**
 * Writes the arguments of one call as fragments of one JSON object. A finished value waits for the next parameter, because
 * one of the same name makes both an array; a string may be written while it is still coming. Should a value that was
 * already sent turn out to be repeated, the name is sent once more at the end, with the array, and readers take the last.
 */
export class ArgumentsWriter {
  readonly #send: (fragment: string) => void;
  readonly #whole: boolean;
  readonly #sent = new Map<string, string[]>();
  #waiting = new Map<string, string[]>();
  /** Names whose values were sent before all of them had come. */
  readonly #repeated = new Set<string>();
  #streaming: { name: string; source: string; carry: string } | undefined;
  #begun = false;

  /** @param whole Nothing is written before `end`, so that repeated names never appear twice. */
  constructor(send: (fragment: string) => void, whole: boolean) {
    this.#send = send;
    this.#whole = whole;
  }

  /** Whether a string of this name can be written while it is still coming. */
  canStream(name: string): boolean {
    return !this.#whole && !this.#sent.has(name) && !this.#waiting.has(name);
  }

  /** Writes a piece of the string `name`, which `canStream` allowed; finish it with `endString`. */
  string(name: string, piece: string): void {
    let head = "";
    if (!this.#streaming) {
      this.#flush();
      this.#streaming = { name, source: "", carry: "" };
      head = `${this.#separator()}${JSON.stringify(name)}:"`;
    }
    const streaming = this.#streaming;
    const text = streaming.carry + piece;
    const last = text.charCodeAt(text.length - 1);
    const split = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
    streaming.carry = text.slice(split);
    const escaped = escapeJson(text.slice(0, split));
    streaming.source += escaped;
    if (head !== "" || escaped !== "") this.#send(head + escaped);
  }

  endString(): void {
    const streaming = this.#streaming;
    if (!streaming) return;
    const rest = escapeJson(streaming.carry);
    this.#send(`${rest}"`);
    this.#sent.set(streaming.name, [`"${streaming.source}${rest}"`]);
    this.#streaming = undefined;
  }

  /** Adds a finished value, given as JSON text, which is copied as it stands. */
  value(name: string, source: string): void {
    if (!this.#whole && !this.#waiting.has(name)) this.#flush();
    const sources = this.#waiting.get(name);
    if (sources) sources.push(source);
    else this.#waiting.set(name, [source]);
  }

  /** A parameter of this name begins: values of other names will not be repeated at once. */
  begin(name: string): void {
    if (!this.#whole && !this.#waiting.has(name)) this.#flush();
  }

  /** The object stays open: what is finished within it is written, and what is not does not end. */
  leave(): void {
    if (!this.#whole && !this.#streaming) this.#flush();
  }

  /** Completes the object. */
  end(): void {
    this.endString();
    this.#flush();
    for (const name of this.#repeated) this.#write(name);
    this.#send(this.#begun ? "}" : "{}");
  }

  #separator(): string {
    const separator = this.#begun ? "," : "{";
    this.#begun = true;
    return separator;
  }

  #flush(): void {
    for (const [name, sources] of this.#waiting) {
      const sent = this.#sent.get(name);
      if (sent) {
        for (const source of sources) sent.push(source);
        this.#repeated.add(name);
      } else {
        this.#sent.set(name, sources);
        this.#write(name);
      }
    }
    this.#waiting = new Map();
  }

  #write(name: string): void {
    this.#send(`${this.#separator()}${JSON.stringify(name)}:${oneOrMany(this.#sent.get(name) ?? [])}`);
  }
}
