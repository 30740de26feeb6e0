import { SurrogateJoiner } from "../../core/encoding/surrogate-joiner.ts";

/** Characters that JSON must escape. */
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
 * Writes the arguments of one call as fragments of one JSON object. A complete value is held until the next parameter
 * begins, because a second value of the same name turns both into an array. A string may be written while it still arrives.
 * If a value that was already sent is repeated later, the name is sent again at the end with the array: JSON parsers use
 * the last value of a repeated name.
 */
export class ArgumentsWriter {
  readonly #send: (fragment: string) => void;
  readonly #isWhole: boolean;
  readonly #sent = new Map<string, string[]>();
  #heldValues = new Map<string, string[]>();
  /** Names whose first values were sent before further values arrived. */
  readonly #repeated = new Set<string>();
  #streaming: { name: string; source: string } | undefined;
  /** Joins the pieces of the string that is written while it arrives. */
  readonly #pairs = new SurrogateJoiner();
  #hasStarted = false;

  /** @param isWhole Whether nothing is written before `end`, so that repeated names never appear twice. */
  constructor(send: (fragment: string) => void, isWhole: boolean) {
    this.#send = send;
    this.#isWhole = isWhole;
  }

  /** Whether a string of this name can be written while it still arrives. */
  canStream(name: string): boolean {
    return !this.#isWhole && !this.#sent.has(name) && !this.#heldValues.has(name);
  }

  /** Writes a piece of the string `name`, which `canStream` allowed; finish it with `endString`. */
  appendString(name: string, piece: string): void {
    let head = "";
    if (!this.#streaming) {
      this.#flush();
      this.#streaming = { name, source: "" };
      head = `${this.#separator()}${JSON.stringify(name)}:"`;
    }
    const escaped = escapeJson(this.#pairs.push(piece));
    this.#streaming.source += escaped;
    if (head !== "" || escaped !== "") this.#send(head + escaped);
  }

  endString(): void {
    const streaming = this.#streaming;
    if (!streaming) return;
    const rest = escapeJson(this.#pairs.flush());
    this.#send(`${rest}"`);
    this.#sent.set(streaming.name, [`"${streaming.source}${rest}"`]);
    this.#streaming = undefined;
  }

  /** Adds a complete value. `source` is JSON text, which is copied unchanged. */
  addValue(name: string, source: string): void {
    if (!this.#isWhole && !this.#heldValues.has(name)) this.#flush();
    const sources = this.#heldValues.get(name);
    if (sources) sources.push(source);
    else this.#heldValues.set(name, [source]);
  }

  /** Begins a parameter. Held values of other names can be written now, because they are not repeated directly. */
  beginParameter(name: string): void {
    if (!this.#isWhole && !this.#heldValues.has(name)) this.#flush();
  }

  /** Leaves the object incomplete: writes complete values, and does not end incomplete ones. */
  leaveOpen(): void {
    if (!this.#isWhole && !this.#streaming) this.#flush();
  }

  /** Completes the object. */
  end(): void {
    this.endString();
    this.#flush();
    for (const name of this.#repeated) this.#write(name);
    this.#send(this.#hasStarted ? "}" : "{}");
  }

  #separator(): string {
    const separator = this.#hasStarted ? "," : "{";
    this.#hasStarted = true;
    return separator;
  }

  #flush(): void {
    for (const [name, sources] of this.#heldValues) {
      const sent = this.#sent.get(name);
      if (sent) {
        for (const source of sources) sent.push(source);
        this.#repeated.add(name);
      } else {
        this.#sent.set(name, sources);
        this.#write(name);
      }
    }
    this.#heldValues = new Map();
  }

  #write(name: string): void {
    this.#send(`${this.#separator()}${JSON.stringify(name)}:${oneOrMany(this.#sent.get(name) ?? [])}`);
  }
}
