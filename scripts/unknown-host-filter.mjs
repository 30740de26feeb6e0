/** The first and the last line of workerd's message about a host name without an address. It names neither the host nor the provider. */
const FIRST_LINE = "failed to lookup address information";
const LAST_LINE = /^\s*stack: /;
/** One request causes several messages if it is retried. */
const REPEAT_MS = 10_000;

export const UNKNOWN_HOST =
  "A host name has no address in the DNS. Check PROVIDER_BASE_URL, the addresses of providers and proxies in the console, and those of requested web pages.";

/**
 * Returns a function that replaces workerd's stack traces about unknown host names in pieces of its output by one sentence.
 *
 * @param {() => number} now
 * @returns {(piece: Buffer) => Buffer | string}
 */
export function unknownHostFilter(now = Date.now) {
  /** What is left out: the rest of a message, the blank lines after it, or nothing. */
  let skipped = "nothing";
  let printedAt = Number.NEGATIVE_INFINITY;
  const filterLine = (line) => {
    if (line.includes(FIRST_LINE)) {
      skipped = "message";
      if (now() - printedAt < REPEAT_MS) return "";
      printedAt = now();
      return `${UNKNOWN_HOST}\n`;
    }
    if (skipped === "nothing") return line;
    if (skipped === "message") {
      if (LAST_LINE.test(line)) skipped = "blank lines";
      return "";
    }
    if (line.trim() === "") return "";
    skipped = "nothing";
    return line;
  };
  // Other pieces stay bytes: a piece may end within a character.
  return (piece) =>
    skipped !== "nothing" || piece.includes(FIRST_LINE)
      ? piece
          .toString()
          .split(/(?<=\n)/)
          .map(filterLine)
          .join("")
      : piece;
}
