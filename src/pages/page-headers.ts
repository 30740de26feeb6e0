import type { PageReport, Spent } from "../platform/page-browser.ts";

/** Cache lifetime in seconds of an answer about a page in trouble, which may recover soon. */
const TROUBLED_LIFETIME = 60;
/** Cache lifetime in seconds of any other answer. */
const LIFETIME = 2_592_000;

/** Response headers about the load of the page. */
export function pageHeaders(report: PageReport): Record<string, string> {
  return {
    "x-page-url": printable(report.url).slice(0, 2_000),
    "x-page-status": String(report.status),
    ...(report.incomplete && { "x-page-incomplete": "true" }),
    ...(report.overBudget && { "x-page-over-budget": "true" }),
    ...(report.spent !== undefined && { "server-timing": serverTiming(report.spent) }),
  };
}

/** The steps of the load, for the request that caused it (Server-Timing, W3C); cached answers do not have them. */
function serverTiming(spent: Spent): string {
  return spent.map(({ step, ms }) => `${step};dur=${Math.max(0, ms)}`).join(", ");
}

/** Cache lifetime in seconds of an answer about a page. */
export function lifetimeOf(report: PageReport): number {
  return report.status >= 400 || report.incomplete || report.overBudget ? TROUBLED_LIFETIME : LIFETIME;
}

/** Whether the cache lifetime of an answer is that of a page in trouble. */
export function isOfTrouble(lifetime: number): boolean {
  return lifetime === TROUBLED_LIFETIME;
}

/** A URL with the characters escaped that a header may not contain. */
function printable(url: string): string {
  return url.toWellFormed().replace(/[^!-~]+/g, encodeURIComponent);
}
