import { describe } from "vitest";
import { browserExecutable } from "../../scripts/ensure-browser.mjs";

/** Path of Chromium for Playwright's `executablePath`; null if this machine has none. */
export { browserExecutable } from "../../scripts/ensure-browser.mjs";

/** `describe` for tests that need a browser. Without a browser the tests are skipped with a message. */
export const describeWithBrowser: typeof describe.skip = browserExecutable() === null ? skipped() : describe;

function skipped(): typeof describe.skip {
  console.warn("There is no browser on this machine: the tests that need one are skipped.");
  return describe.skip;
}
