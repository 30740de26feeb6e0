import type { PageReport, Spent } from "../platform/page-browser.ts";

/** Seconds that an answer is kept when its page was in trouble, which may be over soon. */
const TROUBLED_LIFETIME = 60;
/** Seconds that any other answer is kept. */
const LIFETIME = 2_592_000;

/** What the caller is told about the page beside the answer itself. */
export function pageHeaders(report: PageReport): Record<string, string> {
  return {
    "x-page-url": printable(report.url).slice(0, 2_000),
    "x-page-status": String(report.status),
    ...(report.incomplete && { "x-page-incomplete": "true" }),
    ...(report.overBudget && { "x-page-over-budget": "true" }),
    ...(report.spent !== undefined && { "server-timing": serverTiming(report.spent) }),
  };
}

/** Where the time went, for whoever asked for the page (Server-Timing, W3C); an answer that was kept does not tell it. */
function serverTiming(spent: Spent): string {
  return spent.map(({ step, ms }) => `${step};dur=${Math.max(0, ms)}`).join(", ");
}

/** Seconds for which an answer about a page may be given to others. */
export function lifetimeOf(report: PageReport): number {
  return report.status >= 400 || report.incomplete || report.overBudget ? TROUBLED_LIFETIME : LIFETIME;
}

/** Whether an answer that is kept for so long is about a page in trouble. */
export function isOfTrouble(lifetime: number): boolean {
  return lifetime === TROUBLED_LIFETIME;
}

/** A URL as it is, with what may not stand in a header escaped. */
function printable(url: string): string {
  return url.toWellFormed().replace(/[^!-~]+/g, encodeURIComponent);
}
