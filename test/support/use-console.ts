import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterEach, beforeAll, expect } from "vitest";
import { buildConsole } from "../../scripts/build-console.mjs";
import type { GatewayOptions } from "./gateway.ts";
import { openSharedBrowser } from "./shared-browser.ts";
import { ADMIN_KEY, type TestAdmin, useAdmin } from "./use-admin.ts";

/** Display options of a page. */
export interface TabOptions {
  readonly theme?: "light" | "dark";
  /** Pixels. */
  readonly width?: number;
  /** The browser's language. */
  readonly locale?: string;
}

/** The console of a running gateway, in a real browser. */
export interface TestConsole extends TestAdmin {
  /** Opens the console in a browser context with separate storage. */
  open(options?: TabOptions): Promise<Page>;
  /** The same, signed in and at a page, such as `accounts`. */
  at(page: string, options?: TabOptions): Promise<Page>;
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Messages that browsers log for error responses that the page displays. */
const EXPECTED =
  /Failed to load resource: (?:the server responded with a status of (?:400|401|403|404|409|412|502|503)|net::ERR_INTERNET_DISCONNECTED)/;

/** Starts a gateway for the tests of a file, with a browser. Console errors of the page fail the test. */
export function useConsole(options: GatewayOptions = {}): TestConsole {
  const admin = useAdmin(options);
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  let browser: Browser | undefined;

  beforeAll(async () => {
    browser = await openSharedBrowser();
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    expect(complaints.splice(0)).toEqual([]);
  });

  /** Opens a tab without loading the console. */
  const tab = async ({
    theme = "light",
    width = 1_280,
    locale = "en-GB",
  }: TabOptions = {}): Promise<Page> => {
    if (browser === undefined) throw new Error("the browser is not running");
    const context = await browser.newContext({
      baseURL: admin.gateway.url,
      viewport: { width, height: 860 },
      colorScheme: theme,
      locale,
    });
    contexts.push(context);
    const page = await context.newPage();
    // A busy machine needs up to ten seconds for what takes one alone.
    page.setDefaultTimeout(30_000);
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => {
      if (message.type() === "error" && !EXPECTED.test(message.text())) complaints.push(message.text());
    });
    return page;
  };
  return {
    get gateway() {
      return admin.gateway;
    },
    fetch: admin.fetch,
    post: admin.post,
    chat: admin.chat,
    admin: admin.admin,
    open: async (options) => {
      const page = await tab(options);
      await page.goto("/admin");
      return page;
    },
    at: async (name, options) => {
      const page = await tab(options);
      const { body } = await admin.admin("POST", "/admin/login", { admin_key: ADMIN_KEY }, null);
      const session = JSON.stringify({ token: body["token"], expiresAt: Date.now() + 3_600_000 });
      await page.addInitScript(`sessionStorage.setItem("polygate.session", ${JSON.stringify(session)})`);
      await page.goto(`/admin#/${name}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      return page;
    },
  };
}

/** The console must be built before a gateway that serves it starts. */
await buildConsole();

export async function signIn(page: Page, key: string = ADMIN_KEY): Promise<void> {
  await page.getByLabel("Admin key or password").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
}

/**
 * Opens a page by its URL and waits until it is loaded. First waits until open forms have closed, because an open form asks
 * before the page is left, even if the list behind it already shows the saved data.
 */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.locator("dialog").first().waitFor({ state: "detached" });
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${name}`)}`);
  await page
    .locator(`nav a[aria-current="page"][href="#/${name.split("/")[0]}"]`)
    .waitFor({ state: "attached" });
  await page.getByRole("heading", { level: 1 }).waitFor();
}

/**
 * Waits until a form has closed, which happens when its request has succeeded. The list behind it refreshes and may show
 * the saved data earlier; a test that continues then would find the form's fields beside those of the page.
 */
export async function saved(dialog: Locator): Promise<void> {
  await dialog.waitFor({ state: "detached" });
}

/** Returns the violations that an accessibility checker finds on the current page. */
export async function violations(page: Page): Promise<unknown> {
  // Uses the debugger, because the page's content security policy blocks foreign scripts.
  await page.evaluate(axe);
  return page.evaluate(
    "axe.run({resultTypes: ['violations']}).then(({violations}) => violations.map(({id, nodes}) => " +
      "({id, nodes: nodes.map(({html, failureSummary}) => html.slice(0, 200) + ' ' + failureSummary)})))",
  );
}
