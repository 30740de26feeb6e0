import { editDistance } from "../../core/encoding/edit-distance.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { checkPageAddress, type PageAddressOptions } from "./page-address.ts";

const TRUE_WORDS: ReadonlySet<string> = new Set(["true", "1", "yes", "on", "y", "t", ""]);
const FALSE_WORDS: ReadonlySet<string> = new Set(["false", "0", "no", "off", "n", "f"]);

/** Parses query parameters. Each method throws a 400 with the parameter's name if the value is invalid. */
export class QueryParameters {
  readonly #query: URLSearchParams;
  /** The names read so far, and those read elsewhere (`page-caller.ts`, `jobs/start-job.ts`). */
  readonly #known = new Set(["url", "async", "key"]);

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** The text of a parameter; null if it is missing. Throws if it is empty, because it would have no effect. */
  text(name: string): string | null {
    const text = this.#get(name)?.trim() ?? null;
    if (text === "") throw emptyValue(name);
    return text;
  }

  /**
   * The text of a parameter, without control characters and with at most `maxLength` characters; null if it is missing.
   */
  limitedText(name: string, maxLength: number): string | null {
    const text = this.text(name);
    return text === null ? null : assertTextLimits(name, text, maxLength);
  }

  /** The texts of a repeatable parameter, at most `maxCount`, each limited as in `limitedText`. */
  textList(name: string, maxCount: number, maxLength: number): readonly string[] {
    this.#known.add(name);
    const texts = this.#query.getAll(name).map((text) => text.trim());
    if (texts.includes("")) throw emptyValue(name);
    if (texts.length <= maxCount) return texts.map((text) => assertTextLimits(name, text, maxLength));
    throw invalidRequest(`The parameter ${name} may be given at most ${maxCount} times.`, name);
  }

  /** The source texts of a repeatable parameter, as they are: at most `maxCount`, each of at most `maxLength` characters. */
  sourceList(name: string, maxCount: number, maxLength: number): readonly string[] {
    this.#known.add(name);
    const texts = this.#query.getAll(name);
    if (texts.some((text) => text.trim() === "")) throw emptyValue(name);
    if (texts.length <= maxCount && texts.every(({ length }) => length <= maxLength)) return texts;
    throw invalidRequest(
      `The parameter ${name} may be given at most ${maxCount} times, with ${maxLength} characters each.`,
      name,
    );
  }

  /** Any of the given values, case-insensitive; sorted, each once. */
  choiceList<T extends string>(name: string, values: readonly T[]): readonly T[] {
    this.#known.add(name);
    const texts = this.#query.getAll(name).map((text) => text.trim().toLowerCase());
    const found = values.filter((value) => texts.includes(value));
    if (found.length === new Set(texts).size) return found.toSorted();
    throw invalidRequest(`The parameter ${name} must be one of ${values.join(", ")}.`, name);
  }

  /** A number in a range, including both ends, with at most two decimals; null if it is missing. */
  number(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const number = /^\d{1,9}(?:\.\d{1,2})?$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw invalidRequest(
      `The parameter ${name} must be a number from ${min} to ${max} with at most two decimals.`,
      name,
    );
  }

  /** A boolean in any common spelling; a name without a value counts as true. `fallback`: the value if it is missing. */
  boolean<Fallback>(name: string, fallback: Fallback): boolean | Fallback {
    const value = this.#get(name)?.trim().toLowerCase();
    if (value === undefined) return fallback;
    if (TRUE_WORDS.has(value)) return true;
    if (FALSE_WORDS.has(value)) return false;
    throw invalidRequest(`The parameter ${name} must be true or false.`, name);
  }

  /** A whole number in a range, including both ends; null if it is missing. */
  integer(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    return parseInRange(value, min, max) ?? rejectRange(name, min, max);
  }

  /** One of the given values, case-insensitive; null if it is missing. */
  choice<T extends string>(name: string, values: readonly T[]): T | null {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return null;
    const found = values.find((candidate) => candidate.toLowerCase() === value);
    if (found !== undefined) return found;
    throw invalidRequest(`The parameter ${name} must be one of ${values.join(", ")}.`, name);
  }

  /** Rejects unknown parameters, because a misspelt one would silently have no effect. Throws a 400 with its name. */
  rejectUnknown(): void {
    const name = [...this.#query.keys()].find((candidate) => !this.#known.has(candidate));
    if (name === undefined) return;
    const message = `${describeUnknownName(name, [...this.#known])} ${ENCODE_ADDRESS_HINT}`;
    throw invalidRequest(message, name.slice(0, MAX_SHOWN_CHARACTERS));
  }

  /**
   * The value of a parameter. Throws if it is given several times with different values, since only one could have an
   * effect.
   */
  #get(name: string): string | null {
    this.#known.add(name);
    const [value = null, ...others] = this.#query.getAll(name);
    if (others.every((other) => other === value)) return value;
    throw invalidRequest(`The parameter ${name} is given more than once. ${ENCODE_ADDRESS_HINT}`, name);
  }

  /**
   * The page's address from the parameter `url`, with the scheme completed.
   *
   * @throws GatewayError 400 for an address that may not be loaded
   */
  pageUrl(options: PageAddressOptions): URL {
    const check = checkPageAddress(this.#get("url") ?? "", options);
    if (check.ok) return check.url;
    throw new GatewayError(400, check.message, { code: check.code, param: "url" });
  }
}

function emptyValue(name: string): GatewayError {
  return invalidRequest(`The parameter ${name} has no value.`, name);
}

/** The usual cause of unexpected parameters. */
const ENCODE_ADDRESS_HINT = "(If it is part of the page's address, that address has to be percent-encoded.)";

/** Maximum characters of an unknown name in a message. */
const MAX_SHOWN_CHARACTERS = 40;

/** The message about an unknown parameter: the most similar name, or all names. */
export function describeUnknownName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const hint = nearest === null ? `The parameters are ${known.join(", ")}.` : `Do you mean ${nearest}?`;
  return `There is no parameter ${name.slice(0, MAX_SHOWN_CHARACTERS)}. ${hint}`;
}

/** The name that is most similar to a misspelt one; null if none is similar. */
function nearestName(misspelt: string, names: readonly string[]): string | null {
  const simplify = (name: string) =>
    name
      .slice(0, MAX_SHOWN_CHARACTERS)
      .toLowerCase()
      .replace(/^amp;|[^a-z0-9]/g, "");
  const simplified = simplify(misspelt);
  const byDistance = names
    .map((name) => {
      const otherName = simplify(name);
      const isPart =
        Math.min(simplified.length, otherName.length) >= 3 &&
        (simplified.startsWith(otherName) || otherName.startsWith(simplified));
      const distance = editDistance(simplified, otherName);
      return { name, distance: isPart ? Math.min(1, distance) : distance };
    })
    .sort((a, b) => a.distance - b.distance);
  const [best] = byDistance;
  return best !== undefined && best.distance <= Math.max(1, Math.floor(simplified.length / 3))
    ? best.name
    : null;
}

/** Parses `<width>x<height>`. Throws a 400 with the parameter's name. */
export function parseDimensions(
  name: string,
  value: string,
  min: number,
  max: number,
): { width: number; height: number } {
  const parts = /^(\d+)x(\d+)$/i.exec(value);
  const width = parseInRange(parts?.[1] ?? "", min, max);
  const height = parseInRange(parts?.[2] ?? "", min, max);
  if (width !== null && height !== null) return { width, height };
  throw invalidRequest(
    `The parameter ${name} must be <width>x<height>, each from ${min} to ${max}, such as 640x480.`,
    name,
  );
}

function assertTextLimits(name: string, text: string, maxLength: number): string {
  const printable = [...text].every((character) => character >= " " && character !== "\u007f");
  if (text.length <= maxLength && printable) return text;
  throw invalidRequest(
    `The parameter ${name} must have at most ${maxLength} characters, without control characters.`,
    name,
  );
}

function parseInRange(text: string, min: number, max: number): number | null {
  const number = /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

function rejectRange(name: string, min: number, max: number): never {
  throw invalidRequest(`The parameter ${name} must be a whole number from ${min} to ${max}.`, name);
}
