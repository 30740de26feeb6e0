import { type Browser, chromium } from "playwright-core";
import { browserExecutable } from "./browser.ts";

let launched: Promise<Browser> | undefined;

/** The browser of this process, which all test files share. It ends with the process. */
export function openSharedBrowser(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: browserExecutable() ?? "" });
  return launched;
}
