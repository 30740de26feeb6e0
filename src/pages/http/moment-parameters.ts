import type { LoadMoment, WaitUntil } from "../../core/ports/page-browser.ts";
import { choice, decimal, integer, readParameters, text, withDefault } from "./parameter-table.ts";
import type { QueryParameters } from "./query-parameters.ts";

/** When a page counts as loaded. */
const WAIT_UNTIL = [
  "load",
  "domcontentloaded",
  "networkidle0",
  "networkidle2",
] as const satisfies readonly WaitUntil[];

/** Maximum characters of a selector or an awaited text. */
export const MAX_SELECTOR = 1_000;
/** Seconds for a page to settle by default, and at most. */
const DEFAULT_SETTLE = 2;
const MAX_SETTLE = 10;
/** Maximum seconds of `delay`. */
const MAX_DELAY = 10;

/** The parameters of a moment. */
export const MOMENT_PARAMETERS = {
  waitUntil: withDefault<WaitUntil>(choice(WAIT_UNTIL, "When the page counts as loaded."), "load"),
  waitForSelector: text(MAX_SELECTOR, "CSS selector of an element to wait for."),
  waitForText: text(MAX_SELECTOR, "Text to wait for."),
  settle: decimal(
    0,
    MAX_SETTLE,
    "Seconds to wait at most until the network is quiet and the document still; animations are ended. 2, or 0 with domcontentloaded.",
  ),
  delay: withDefault(integer(0, MAX_DELAY, "Seconds to wait after the page has loaded."), 0),
};

/** Reads when to read or capture a page. Throws a 400 that names the invalid parameter. */
export function readMoment(query: QueryParameters): LoadMoment {
  const { waitUntil, waitForSelector, waitForText, settle, delay } = readParameters(query, MOMENT_PARAMETERS);
  // A caller who does not wait for the load does not want to wait longer either.
  const defaultSettle = waitUntil === "domcontentloaded" ? 0 : DEFAULT_SETTLE;
  return { waitUntil, waitForSelector, waitForText, settle: settle ?? defaultSettle, delay };
}
