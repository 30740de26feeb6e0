import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { assetsFolder } from "../../scripts/development.mjs";
import { describeWithBrowser } from "../support/browser.ts";
import { useConsole } from "../support/use-console.ts";

/** `FIGURES=1` prints the longest task of a scroll, and rejects one that takes more than 50 ms of processor time. */
const FIGURES = process.env["FIGURES"] !== undefined;

/** An event of a trace: `tdur` is processor time in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/**
 * Returns the processor time of the longest task that a page's main thread runs during an action, in milliseconds. Unlike the
 * duration of a task, it does not grow when other processes take the processor.
 */
async function measureLongestTask(page: Page, action: () => Promise<void>): Promise<number> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page has no browser");
  await browser.startTracing(page, { categories: ["toplevel"] });
  await action();
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(String(await browser.stopTracing()));
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`;
  const threads = traceEvents.filter(
    ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain",
  );
  const mainThreads = new Set(threads.map(threadOf));
  const tasks = traceEvents.filter(
    (event) => event.name.endsWith("RunTask") && mainThreads.has(threadOf(event)),
  );
  expect(tasks.length).toBeGreaterThan(100);
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

describeWithBrowser("the console's speed", () => {
  const app = useConsole();

  it("comes in less than 150 KB, compressed", () => {
    const folder = join(assetsFolder, "console");
    const page = readFileSync(join(folder, "index.html"), "utf8");
    const files = readdirSync(folder).filter((name) => page.includes(name));
    const bytes = files.map((name) => gzipSync(readFileSync(join(folder, name))).length);
    expect(files.length).toBeGreaterThan(2);
    const total = bytes.reduce((sum, each) => sum + each, 0);
    if (FIGURES) process.stdout.write(`compressed: ${total} bytes\n`);
    expect(total).toBeLessThan(150_000);
  });

  it("is painted with a cold cache by what its page names, without asking for anything more", async () => {
    const page = await app.open();
    await page.getByLabel("Admin key or password").waitFor();
    const loaded = await page.evaluate<string[]>(
      "performance.getEntriesByType('resource').map(({name}) => new URL(name).pathname)",
    );
    const named = await (await app.fetch("/admin")).text();
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.filter((path) => !named.includes(path))).toEqual([]);
  });

  it.each([
    ["before a gateway is set up", ""],
    ["later", "1"],
  ])("reads for the overview no names that it does not show, and nothing twice: %s", async (_, setUp) => {
    const provider = {
      id: `engine${setUp}`,
      name: "Engine of mine",
      driver: "openai",
      base_url: "http://engine.test",
    };
    await app.admin("POST", "/admin/providers", provider);
    const page = await app.at("keys");
    if (setUp !== "") await page.evaluate(`localStorage.setItem('polygate-set-up', '${setUp}')`);
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      // These are refreshed every few seconds, and before the set-up others after five.
      const isLoad = Date.now() - from < 4_000 && /^\/admin\/(?!queue\/|activity)/.test(pathname);
      if (isLoad) asked.push(pathname + search);
    });
    const from = Date.now();
    await page.evaluate("location.hash = '#/overview'");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByText("Engine of mine").first().waitFor();
    if (setUp === "") await page.getByText("Send a first request").waitFor();
    await page.waitForLoadState("networkidle");
    expect(asked.filter((url, index) => asked.indexOf(url) !== index)).toEqual([]);
    expect(asked).toContain("/admin/providers");
    expect(asked.filter((url) => /^\/admin\/(?:teams|users)/.test(url))).toEqual([]);
  });

  it("scrolls through 5,000 accounts without holding the screen up", async () => {
    const accounts = Array.from({ length: 4_997 }, (_, index) => ({
      email: `account-${String(index).padStart(4, "0")}@sandbox.test`,
      password: "sandbox",
    }));
    await app.admin("POST", "/admin/import", { accounts });
    const page = await app.at("accounts");
    await page.getByText("5,000 accounts").waitFor();
    await page.getByLabel("Show").selectOption({ label: "5,000" });
    await page.getByText("1 / 1", { exact: true }).waitFor();

    // Each frame of a fast scroll through the whole list: there are never more rows than a screen needs.
    const scroll = () =>
      page.evaluate(`(async () => {
      const box = document.querySelector(".account-table");
      const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      let rows = 0;
      const end = box.scrollHeight - box.clientHeight;
      for (let step = 1; step <= 100; step++) {
        box.scrollTop = end * step / 100;
        await painted();
        rows = Math.max(rows, box.querySelectorAll("tbody tr").length);
      }
      return { rows, height: box.scrollHeight };
    })()`);
    const { rows, height } = Object(await scroll());
    expect(height).toBeGreaterThan(5_000 * 50);
    expect(rows).toBeLessThan(60);
    if (FIGURES) {
      const longest = await measureLongestTask(page, async () => {
        await scroll();
      });
      process.stdout.write(`longest task: ${longest.toFixed(1)} ms of processor time\n`);
      expect(longest).toBeLessThan(50);
    }
    await page.getByText("account-4996@sandbox.test").waitFor();

    await page.getByLabel("Search accounts").fill("account-4321");
    await page.getByText("1 account", { exact: true }).waitFor();
    await page.getByText("account-4321@sandbox.test").waitFor();
  });
});
