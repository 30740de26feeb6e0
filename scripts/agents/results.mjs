/**
 * What came of one attempt.
 *
 * @typedef {object} Result
 * @property {string} style the API style that was spoken
 * @property {string} column a column of the table
 * @property {string} way how it was tried: driver, streamed or whole
 * @property {string | null} error null: as it should be
 * @property {string} [known] why the client cannot, whatever the gateway does; it was not tried
 */

/** The columns of the table, in their order. */
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

  /** @returns {string[]} what went wrong, in words */
  get failures() {
    return this.results.flatMap(({ column, way, error }) =>
      error === null ? [] : [`${column}, ${way}: ${error}`],
    );
  }

  /** @returns {string[]} what the client cannot do for reasons of its own */
  get limits() {
    const known = this.results.filter((result) => result.known !== undefined);
    return [...new Set(known.map(({ column, known }) => `${column}: ${known}`))];
  }

  /** The text of a cell: how many ways of how many passed; empty when there is nothing to try. */
  cell(column) {
    const tried = this.results.filter((result) => result.column === column && result.known === undefined);
    const passed = tried.filter(({ error }) => error === null).length;
    const limited = this.results.some((result) => result.column === column && result.known !== undefined);
    if (tried.length === 0) return limited ? "no" : "";
    return (passed === tried.length ? "ok" : `${passed} of ${tried.length}`) + (limited ? "*" : "");
  }
}

/**
 * The table in Markdown, with the failures and limits below it.
 *
 * @param {readonly Row[]} rows
 * @param {readonly { client: string, version: string, reason: string }[]} absent what could not be run
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
