import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { QueryParameters } from "../http/query-parameters.ts";

/** Maximum characters of a time zone's name, and of a language tag. */
export const MAX_TIMEZONE = 64;
export const MAX_LOCALE = 35;

/**
 * The parameter `timezone`: a name of the time zone database, in canonical spelling. Offsets are rejected: not all
 * browsers know them. Throws a 400 that names the parameter.
 */
export function readTimezone(query: QueryParameters): string | null {
  const name = query.limitedText("timezone", MAX_TIMEZONE);
  if (name === null) return null;
  try {
    if (/^[a-z]/i.test(name)) {
      return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
    }
  } catch {
    // No time zone has that name.
  }
  throw invalidRequest(
    "The parameter timezone must be a name of the time zone database, such as Europe/Berlin.",
    "timezone",
  );
}

/** The parameter `locale`: a language tag in canonical spelling. Throws a 400 that names the parameter. */
export function readLocale(query: QueryParameters): string | null {
  const tag = query.limitedText("locale", MAX_LOCALE);
  if (tag === null) return null;
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    if (canonical !== undefined) return canonical;
  } catch {
    // It is no language tag.
  }
  throw invalidRequest("The parameter locale must be a language tag, such as de-CH.", "locale");
}
