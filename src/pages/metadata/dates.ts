/** Longer texts contain more than a date, in UTF-16 code units. */
const MAX_TEXT = 200;

/** The beginnings of month names: English, German, French, Spanish, Italian, Portuguese and Dutch. */
const MONTHS: readonly (readonly string[])[] = [
  ["jan", "jän", "ene", "gen"],
  ["feb", "fév", "fev"],
  ["mar", "mär", "maa", "mrt"],
  ["apr", "avr", "abr"],
  ["may", "mai", "mag", "mei"],
  ["jun", "juin", "giu"],
  ["jul", "juil", "lug"],
  ["aug", "aoû", "ago"],
  ["sep", "set"],
  ["oct", "okt", "ott", "out"],
  ["nov"],
  ["dec", "dez", "déc", "dic"],
];

/**
 * Reads a date from a text or a Unix time. Returns ISO 8601: with the time in UTC if the text is a full timestamp,
 * otherwise the day alone. Null if there is no date with a year.
 */
export function parseDate(value: unknown): string | null {
  if (typeof value === "number") return fromUnixTime(value);
  if (typeof value !== "string") return null;
  const text = value.slice(0, MAX_TEXT).replace(/\s+/g, " ").trim();
  if (/^\d{10}(?:\d{3})?$/.test(text)) return fromUnixTime(Number(text));
  return parseTimestamp(text) ?? parseNumericDate(text) ?? parseAsctime(text) ?? parseNamedMonth(text);
}

function fromUnixTime(time: number): string | null {
  const ms = time < 1e11 ? time * 1_000 : time;
  return ms > 0 && ms < 4.2e12 ? new Date(ms).toISOString() : null;
}

/** A date with a time and an offset: ISO 8601, or of an e-mail (RFC 5322). */
function parseTimestamp(text: string): string | null {
  const iso = /\d{4}-\d{2}-\d{2}[T ]\d{2}:?\d{2}(?::?\d{2}(?:[.,]\d{1,9})?)? ?(?:Z|[+-]\d{2}:?\d{2})/i.exec(
    text,
  );
  const mail =
    /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})? (?:GMT|UTC|[+-]\d{4})/.exec(
      text,
    );
  const time = iso === null ? Date.parse(mail?.[0] ?? "") : Date.parse(withIsoPunctuation(iso[0]));
  return isPlausibleTime(time) ? new Date(time).toISOString() : null;
}

/** Adds the colons that a timestamp may omit. */
function withIsoPunctuation(text: string): string {
  const [, day = "", hour = "", minute = "", second = "00", sign = "", offset = ""] =
    /^(.{10}).(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)? ?(Z|[+-]\d{2}):?(\d{2})?$/i.exec(text) ?? [];
  return `${day}T${hour}:${minute}:${second}${sign.toUpperCase()}${sign.toUpperCase() === "Z" ? "" : `:${offset || "00"}`}`;
}

function isPlausibleTime(time: number): boolean {
  return time > Date.UTC(1900, 0) && time < Date.UTC(2100, 0);
}

/** A date of numbers: year first, or last with the usual order of the separator. Two digits are a year after 2000. */
function parseNumericDate(text: string): string | null {
  const [, year, month, day] =
    /(?:^|\D)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:\D|$)/.exec(text) ??
    /(?:^|\D)(\d{4}) ?年 ?(\d{1,2}) ?月 ?(\d{1,2}) ?日/.exec(text) ??
    /^(\d{4})(\d{2})(\d{2})(?:T?\d{4,6}Z?)?$/.exec(text) ??
    [];
  if (year !== undefined) return toIsoDay(Number(year), Number(month), Number(day));
  const [, first, separator, second, last] =
    /(?:^|\D)(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4}|\d{2})(?:\D|$)/.exec(text) ?? [];
  if (last === undefined) return null;
  // With a slash, American order is more common: the month comes first.
  const isDayFirst = separator !== "/" || Number(first) > 12;
  const [day2, month2] = isDayFirst ? [first, second] : [second, first];
  return toIsoDay(Number(last) + (last.length === 2 ? 2_000 : 0), Number(month2), Number(day2));
}

/** A timestamp in the form of C: `Fri Feb 18 10:27:24 2022`. */
function parseAsctime(text: string): string | null {
  const [, name = "", day, year] =
    /(\p{L}{3}) {1,2}(\d{1,2}) \d{2}:\d{2}:\d{2} (?:[A-Z]{3,4} )?(\d{4})/u.exec(text) ?? [];
  return toIsoDay(Number(year), monthNumber(name), Number(day));
}

/** A date with the name of its month. */
function parseNamedMonth(text: string): string | null {
  for (const [, day, name = "", year] of text.matchAll(
    /(?:^|[^\d])(\d{1,2})(?:st|nd|rd|th|er|º)?[.,]?[ -](?:de |of )?(\p{L}{3,12})[.,]?[ -]?(?:de |del )?(\d{4})(?!\d)/giu,
  )) {
    const found = toIsoDay(Number(year), monthNumber(name), Number(day));
    if (found !== null) return found;
  }
  for (const [, name = "", day, year] of text.matchAll(
    /(?:^|[^\p{L}])(\p{L}{3,12})[.,]? ?(\d{1,2})(?:st|nd|rd|th)?,? (?:at )?(\d{4})(?!\d)/giu,
  )) {
    const found = toIsoDay(Number(year), monthNumber(name), Number(day));
    if (found !== null) return found;
  }
  return null;
}

/** 1 to 12; 0 for a name that is no month. */
function monthNumber(name: string): number {
  const lower = name.toLowerCase();
  return MONTHS.findIndex((beginnings) => beginnings.some((beginning) => lower.startsWith(beginning))) + 1;
}

function toIsoDay(year: number, month: number, day: number): string | null {
  const time = Date.UTC(year, month - 1, day);
  const date = new Date(time);
  if (month < 1 || date.getUTCMonth() !== month - 1 || !isPlausibleTime(time)) return null;
  return date.toISOString().slice(0, 10);
}
