import type { DeclaredSchema, JsonType } from "./declared-schema.ts";

/** Values at a greater depth stay unchanged. */
const MAX_DEPTH = 64;
const SPACE = /[ \t\n\r]/;

/**
 * Converts a JSON text to its declared types: a value whose own type is not declared becomes a string with its source text,
 * digit by digit, if a string is declared. Null and all values that their declarations allow stay unchanged.
 *
 * @param source JSON, known to parse.
 */
export function convertToDeclaredTypes(source: string, schema: DeclaredSchema): string {
  return new TypeConverter(source).read(schema);
}

/** The type of a JSON value, from its first character. */
export function typeAt(first: string | undefined): JsonType {
  if (first === "{") return "object";
  if (first === "[") return "array";
  if (first === '"') return "string";
  if (first === "n") return "null";
  return first === "t" || first === "f" ? "boolean" : "number";
}

class TypeConverter {
  readonly #source: string;
  readonly #pieces: string[] = [];
  #at = 0;
  /** End of the source that is already in the pieces. */
  #copiedUpTo = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(schema: DeclaredSchema): string {
    this.#value(schema, 0);
    return this.#pieces.join("") + this.#source.slice(this.#copiedUpTo);
  }

  #value(schema: DeclaredSchema, depth: number): void {
    this.#skipSpace();
    const start = this.#at;
    const kind = typeAt(this.#source[start]);
    if (kind !== "null" && !schema.allows(kind) && schema.allows("string")) {
      this.#skipValue();
      const text = JSON.stringify(this.#source.slice(start, this.#at));
      this.#pieces.push(this.#source.slice(this.#copiedUpTo, start), text);
      this.#copiedUpTo = this.#at;
    } else if (schema.isUnconstrained || depth === MAX_DEPTH || (kind !== "object" && kind !== "array")) {
      this.#skipValue();
    } else if (kind === "object") this.#members((name) => this.#value(schema.member(name), depth + 1));
    else this.#items((index) => this.#value(schema.item(index), depth + 1));
  }

  #members(read: (name: string) => void): void {
    this.#list("}", () => {
      const start = this.#at;
      this.#skipString();
      const name: unknown = JSON.parse(this.#source.slice(start, this.#at));
      this.#skipSpace();
      this.#at += 1;
      read(String(name));
    });
  }

  #items(read: (index: number) => void): void {
    let index = 0;
    this.#list("]", () => {
      read(index);
      index += 1;
    });
  }

  /** Reads a comma-separated list in brackets, including the closing bracket. */
  #list(close: string, read: () => void): void {
    this.#at += 1;
    this.#skipSpace();
    while (this.#source[this.#at] !== close) {
      read();
      this.#skipSpace();
      if (this.#source[this.#at] === ",") this.#at += 1;
      this.#skipSpace();
    }
    this.#at += 1;
  }

  #skipSpace(): void {
    while (SPACE.test(this.#source[this.#at] ?? "")) this.#at += 1;
  }

  #skipString(): void {
    this.#at += 1;
    while (this.#source[this.#at] !== '"') this.#at += this.#source[this.#at] === "\\" ? 2 : 1;
    this.#at += 1;
  }

  #skipValue(): void {
    let depth = 0;
    do {
      const char = this.#source[this.#at] ?? "";
      if (char === '"') this.#skipString();
      else if (char === "{" || char === "[") {
        depth += 1;
        this.#at += 1;
      } else if (char === "}" || char === "]") {
        depth -= 1;
        this.#at += 1;
      } else if (depth > 0) this.#at += 1;
      else this.#skipWord();
    } while (depth > 0);
  }

  /** Skips a number, `true`, `false` or `null`. */
  #skipWord(): void {
    while (/[-+.\w]/.test(this.#source[this.#at] ?? "")) this.#at += 1;
  }
}
