import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { checkPageUrl, type UrlSafetyOptions } from "../url-safety/index.ts";

const YES: ReadonlySet<string> = new Set(["true", "1", "yes", "on", "y", "t", ""]);
const NO: ReadonlySet<string> = new Set(["false", "0", "no", "off", "n", "f"]);

/** Reads query parameters; each method throws a 400 that names the parameter when its value is not acceptable. */
export class QueryParameters {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** The text of a parameter; null when it is missing or empty. */
  text(name: string): string | null {
    return this.#query.get(name)?.trim() || null;
  }

  /** A boolean in any usual spelling; a name without a value counts as true. */
  boolean(name: string, fallback: boolean): boolean {
    const value = this.#query.get(name)?.trim().toLowerCase();
    if (value === undefined) return fallback;
    if (YES.has(value)) return true;
    if (NO.has(value)) return false;
    throw invalidRequest(`The parameter ${name} must be true or false.`, name);
  }

  /** A whole number in a range, both ends included; null when it is missing or empty. */
  integer(name: string, least: number, most: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    return inRange(value, least, most) ?? refuseRange(name, least, most);
  }

  /** `<width>x<height>`, each in the range; null when it is missing or empty. */
  dimensions(name: string, least: number, most: number): { width: number; height: number } | null {
    const value = this.text(name);
    return value === null ? null : parseDimensions(name, value, least, most);
  }

  /** One of some values, in any case; null when it is missing or empty. */
  choice<T extends string>(name: string, values: readonly T[]): T | null {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return null;
    const found = values.find((candidate) => candidate.toLowerCase() === value);
    if (found !== undefined) return found;
    throw invalidRequest(`The parameter ${name} must be one of ${values.join(", ")}.`, name);
  }

  /**
   * The page, by the parameter `url` with its scheme completed.
   *
   * @throws GatewayError 400 for an address that strangers may not have loaded
   */
  page(options: UrlSafetyOptions): URL {
    const check = checkPageUrl(this.#query.get("url") ?? "", options);
    if (check.ok) return check.url;
    throw new GatewayError(400, check.message, { code: check.code, param: "url" });
  }
}

/** Reads `<width>x<height>`. Throws a 400 that names the parameter. */
export function parseDimensions(
  name: string,
  value: string,
  least: number,
  most: number,
): { width: number; height: number } {
  const parts = /^(\d+)x(\d+)$/i.exec(value);
  const width = inRange(parts?.[1] ?? "", least, most);
  const height = inRange(parts?.[2] ?? "", least, most);
  if (width !== null && height !== null) return { width, height };
  throw invalidRequest(
    `The parameter ${name} must be <width>x<height>, each from ${least} to ${most}, such as 640x480.`,
    name,
  );
}

function inRange(text: string, least: number, most: number): number | null {
  const number = /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : null;
}

function refuseRange(name: string, least: number, most: number): never {
  throw invalidRequest(`The parameter ${name} must be a whole number from ${least} to ${most}.`, name);
}
