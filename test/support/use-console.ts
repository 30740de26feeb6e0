import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { buildConsole } from "../../scripts/build-console.mjs";
import { browserExecutable } from "./browser.ts";
import type { GatewayOptions } from "./gateway.ts";
import { ADMIN_KEY, type TestAdmin, useAdmin } from "./use-admin.ts";

/** How a page is looked at. */
export interface Look {
  readonly theme?: "light" | "dark";
  /** Pixels. */
  readonly width?: number;
}

/** The console of a running gateway, in a real browser. */
export interface TestConsole extends TestAdmin {
  /** Opens the console in a browser of its own storage. */
  open(look?: Look): Promise<Page>;
  /** The same, signed in and at a page, such as `accounts`. */
  at(page: string, look?: Look): Promise<Page>;
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What browsers write down by themselves when an answer is an error that the page then shows. */
const EXPECTED =
  /Failed to load resource: (?:the server responded with a status of (?:400|401|404|409|412|502|503)|net::ERR_INTERNET_DISCONNECTED)/;

/** Starts a gateway and a browser for the tests of a file. Whatever the page complains about fails the test. */
export function useConsole(options: GatewayOptions = {}): TestConsole {
  const admin = useAdmin(options);
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  let browser: Browser | undefined;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserExecutable() ?? "" });
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    expect(complaints.splice(0)).toEqual([]);
  });

  /** A tab that has not loaded the console yet. */
  const tab = async ({ theme = "light", width = 1_280 }: Look = {}): Promise<Page> => {
    if (browser === undefined) throw new Error("the browser is not running");
    const context = await browser.newContext({
      baseURL: admin.gateway.url,
      viewport: { width, height: 860 },
      colorScheme: theme,
      locale: "en-GB",
    });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
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
    open: async (look) => {
      const page = await tab(look);
      await page.goto("/admin");
      return page;
    },
    at: async (name, look) => {
      const page = await tab(look);
      const { body } = await admin.admin("POST", "/admin/login", { admin_key: ADMIN_KEY }, null);
      const session = JSON.stringify({ token: body["token"], expiresAt: Date.now() + 3_600_000 });
      await page.addInitScript(`sessionStorage.setItem("polygate.session", ${JSON.stringify(session)})`);
      await page.goto(`/admin#/${name}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      return page;
    },
  };
}

/** The console must have been built before the gateway that serves it starts. */
await buildConsole();

export async function signIn(page: Page, key: string = ADMIN_KEY): Promise<void> {
  await page.getByLabel("Admin key or password").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
}

/**
 * Goes to a page by its address, and waits until it has what it shows. A form that is still open asks before it is
 * left, though the list behind it may show what was saved already: nobody goes on before it has closed.
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
 * Waits until a form has closed, which it does when what it sends has arrived. The list behind it is asked for again and again, and
 * may show what was saved before: who goes on then finds the form's fields beside those of the page.
 */
export async function saved(dialog: Locator): Promise<void> {
  await dialog.waitFor({ state: "detached" });
}

/** What an accessibility checker finds wrong with the page as it is. */
export async function violations(page: Page): Promise<unknown> {
  // By the debugger, because the page's own policy lets no foreign script in.
  await page.evaluate(axe);
  return page.evaluate(
    "axe.run({resultTypes: ['violations']}).then(({violations}) => violations.map(({id, nodes}) => " +
      "({id, nodes: nodes.map(({html, failureSummary}) => html.slice(0, 200) + ' ' + failureSummary)})))",
  );
}
