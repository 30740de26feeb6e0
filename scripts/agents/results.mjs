/**
 * Result of one test.
 *
 * @typedef {object} Result
 * @property {string} style the API style
 * @property {string} column a column of the table
 * @property {string} way variant of the test: driver, streamed or whole
 * @property {string | null} error null: passed
 * @property {string} [known] limit of the client itself, independent of the gateway; the test was skipped
 */

/** Columns of the table, in their order. */
export const COLUMNS = ["text", "one call", "two calls", "object"];

/** A row of the table: a client in one style. */
export class Row {
  /** @param {{ client: string, version: string, style: string, results: Result[] }} row */
  constructor({ client, version, style, results }) {
    this.client = client;
    this.version = version;
    this.style = style;
    this.results = results;
  }

  /** @returns {string[]} descriptions of the failures */
  get failures() {
    return this.results.flatMap(({ column, way, error }) =>
      error === null ? [] : [`${column}, ${way}: ${error}`],
    );
  }

  /** @returns {string[]} limits of the client itself */
  get limits() {
    const known = this.results.filter((result) => result.known !== undefined);
    return [...new Set(known.map(({ column, known }) => `${column}: ${known}`))];
  }

  /** Text of a cell: passed and total tests; empty if there are none. */
  cell(column) {
    const tried = this.results.filter((result) => result.column === column && result.known === undefined);
    const passed = tried.filter(({ error }) => error === null).length;
    const limited = this.results.some((result) => result.column === column && result.known !== undefined);
    if (tried.length === 0) return limited ? "no" : "";
    return (passed === tried.length ? "ok" : `${passed} of ${tried.length}`) + (limited ? "*" : "");
  }
}

/**
 * Formats the table in Markdown, followed by failures and limits.
 *
 * @param {readonly Row[]} rows
 * @param {readonly { client: string, version: string, reason: string }[]} absent clients that could not run
 * @returns {string}
 */
export function report(rows, absent) {
  const lines = [
    `| client | version | style | ${COLUMNS.join(" | ")} |`,
    `| --- | --- | --- |${" --- |".repeat(COLUMNS.length)}`,
    ...rows.map((row) => {
      const cells = COLUMNS.map((column) => row.cell(column));
      return `| ${row.client} | ${row.version} | ${row.style} | ${cells.join(" | ")} |`;
    }),
  ];
  const say = (title, entries) => {
    if (entries.length > 0) lines.push("", title, ...entries.map((entry) => `- ${entry}`));
  };
  const name = (row) => `${row.client}, ${row.style}`;
  say(
    "Not run:",
    absent.map(({ client, version, reason }) => `${client} ${version}: ${reason}`),
  );
  say(
    "* What the client cannot do:",
    rows.flatMap((row) => row.limits.map((limit) => `${name(row)}, ${limit}`)),
  );
  say(
    "Failed:",
    rows.flatMap((row) => row.failures.map((failure) => `${name(row)}, ${failure.replace(/\s+/g, " ")}`)),
  );
  return lines.join("\n");
}
