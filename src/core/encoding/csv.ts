/** Texts that spreadsheets would run as a formula. The texts may come from untrusted clients. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Encodes a field of a CSV file (RFC 4180). A prefix prevents spreadsheets from running a text as a formula. Numbers stay
 * numbers.
 */
export function encodeCsvField(value: string | number | boolean): string {
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
