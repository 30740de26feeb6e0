import * as z from "zod";
import type { LoadMoment, WaitUntil } from "../../core/ports/page-browser.ts";
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

/** The parameters of a moment, for the OpenAPI document. */
export const momentParameters = () => ({
  waitUntil: z.enum(WAIT_UNTIL).default("load"),
  waitForSelector: z
    .string()
    .max(MAX_SELECTOR)
    .optional()
    .describe("CSS selector of an element to wait for."),
  waitForText: z.string().max(MAX_SELECTOR).optional().describe("Text to wait for."),
  settle: z
    .number()
    .min(0)
    .max(MAX_SETTLE)
    .optional()
    .describe(
      "Seconds to wait at most until the network is quiet and the document still; animations are ended. 2, or 0 with domcontentloaded.",
    ),
  delay: z.int().min(0).max(10).default(0).describe("Seconds to wait after the page has loaded."),
});

/** Reads when to read or capture a page. Throws a 400 that names the invalid parameter. */
export function readMoment(query: QueryParameters): LoadMoment {
  const waitUntil = query.choice("waitUntil", WAIT_UNTIL) ?? "load";
  return {
    waitUntil,
    waitForSelector: query.limitedText("waitForSelector", MAX_SELECTOR),
    waitForText: query.limitedText("waitForText", MAX_SELECTOR),
    // A caller who does not wait for the load does not want to wait longer either.
    settle: query.number("settle", 0, MAX_SETTLE) ?? (waitUntil === "domcontentloaded" ? 0 : DEFAULT_SETTLE),
    delay: query.integer("delay", 0, 10) ?? 0,
  };
}
