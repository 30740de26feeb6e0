import { invalidRequest } from "../../core/errors/gateway-error.ts";
import { parsed, text } from "../http/parameter-table.ts";

/** Maximum characters of a time zone's name, and of a language tag. */
const MAX_TIMEZONE = 64;
const MAX_LOCALE = 35;

/** Where the visitor of the page is. */
export const LOCALE_PARAMETERS = {
  timezone: parsed(text(MAX_TIMEZONE, "Time zone of the page, such as Europe/Berlin."), parseTimezone),
  locale: parsed(text(MAX_LOCALE, "Language and region of the page, such as de-CH."), parseLocale),
};

/**
 * The parameter `timezone`: a name of the time zone database, in canonical spelling. Offsets are rejected: not all
 * browsers know them. Throws a 400 that names the parameter.
 */
function parseTimezone(name: string): string {
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
function parseLocale(tag: string): string {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    if (canonical !== undefined) return canonical;
  } catch {
    // It is no language tag.
  }
  throw invalidRequest("The parameter locale must be a language tag, such as de-CH.", "locale");
}
