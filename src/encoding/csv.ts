/** What spreadsheets would run as a formula: strangers choose texts. */
const FORMULA = /^[=+\-@\t\r]/;

/** A field of a CSV file (RFC 4180). A text that spreadsheets would take for a formula is kept from being one; numbers stay numbers. */
export function csvField(value: string | number | boolean): string {
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
