import { type Browser, chromium } from "playwright-core";
import { browserExecutable } from "./browser.ts";

let shared: Browser | undefined;

/** The browser of this process, which all test files share; a new one if it has crashed. It ends with the process. */
export async function openSharedBrowser(): Promise<Browser> {
  if (shared?.isConnected() !== true)
    shared = await chromium.launch({ executablePath: browserExecutable() ?? "" });
  return shared;
}
