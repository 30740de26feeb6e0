import { describe } from "vitest";
import { browserExecutable } from "../../scripts/ensure-browser.mjs";

/** The Chromium for Playwright's `executablePath`; null on a machine without one. */
export { browserExecutable } from "../../scripts/ensure-browser.mjs";

/** `describe` for tests that need a browser: skipped, and saying so, where there is none. */
export const describeWithBrowser: typeof describe.skip = browserExecutable() === null ? skipped() : describe;

function skipped(): typeof describe.skip {
  console.warn("There is no browser on this machine: the tests that need one are skipped.");
  return describe.skip;
}
