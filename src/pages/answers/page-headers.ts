import type { PageReport, StepTimings } from "../../core/ports/page-browser.ts";

/** Cache lifetime in seconds if the page gave an HTTP error, was incomplete or exceeded its limits: it may recover soon. */
const TROUBLED_LIFETIME_SECONDS = 60;
/** Cache lifetime in seconds of any other answer. */
const LIFETIME_SECONDS = 2_592_000;

/** The header with the reason of `x-page-incomplete`. */
export const INCOMPLETE_REASON = "x-page-incomplete-reason";

/** Members of a JSON answer about a page that is incomplete; none for a complete page. */
export function incompleteMembers(reason: string | null | undefined): IncompleteMembers {
  return reason ? { incomplete: true, incompleteReason: reason } : {};
}

/** See {@link incompleteMembers}. */
export interface IncompleteMembers {
  readonly incomplete?: true;
  readonly incompleteReason?: string;
}

/** Response headers about the load of the page. */
export function pageHeaders(report: PageReport): Record<string, string> {
  return {
    "x-page-url": escapeForHeader(report.url).slice(0, 2_000),
    "x-page-status": String(report.status),
    ...(report.incomplete !== null && {
      "x-page-incomplete": "true",
      [INCOMPLETE_REASON]: report.incomplete,
    }),
    ...(report.missingGlyphs?.length && { "x-page-missing-glyphs": report.missingGlyphs.join(", ") }),
    ...(report.overBudget && { "x-page-over-budget": "true" }),
    ...(report.spent !== undefined && { "server-timing": serverTiming(report.spent) }),
  };
}

/** The steps of the load, for the request that caused it (Server-Timing, W3C); cached answers do not have them. */
function serverTiming(timings: StepTimings): string {
  return timings.map(({ step, ms }) => `${step};dur=${Math.max(0, ms)}`).join(", ");
}

/** Cache lifetime in seconds of an answer about a page. */
export function cacheLifetime(report: PageReport): number {
  return report.status >= 400 || report.incomplete !== null || report.overBudget
    ? TROUBLED_LIFETIME_SECONDS
    : LIFETIME_SECONDS;
}

/** Whether a cache lifetime is the short one, `TROUBLED_LIFETIME_SECONDS`. */
export function isTroubledLifetime(lifetime: number): boolean {
  return lifetime === TROUBLED_LIFETIME_SECONDS;
}

/** A URL with the characters escaped that a header may not contain. */
function escapeForHeader(url: string): string {
  return url.toWellFormed().replace(/[^!-~]+/g, encodeURIComponent);
}
