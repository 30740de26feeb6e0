/**
 * Signs with which spreadsheets begin a formula, at the start of a field. A spreadsheet may separate fields by `;` or
 * tabs: then a field also starts after each of them and after a line end, even within quotes, and it may be quoted
 * itself. The texts may come from untrusted clients.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?="*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20])/g;
const NEEDS_QUOTES = /[",;\t\r\n]/;

/**
 * Encodes a field of a CSV file (RFC 4180). A prefix prevents spreadsheets from running a text as a formula. Numbers stay
 * numbers.
 */
export function encodeCsvField(value: string | number | boolean): string {
  const text = typeof value === "string" ? value.replaceAll(FORMULA, "'") : String(value);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
