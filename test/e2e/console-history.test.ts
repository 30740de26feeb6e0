import { beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { goTo, useConsole, violations } from "../support/use-console.ts";

/** An end user as Claude Code names it. */
const END_USER = JSON.stringify({
  device_id: "0123456789abcdef".repeat(4),
  account_uuid: "7d1f0d2e-5f0b-4c9a-9c3e-0a1b2c3d4e5f",
  session_id: "2f6c8a4e-1b3d-4e5f-8a7b-9c0d1e2f3a4b",
});

describeWithBrowser("the history in the console", () => {
  const app = useConsole();
  let recordId = "";

  beforeAll(async () => {
    await app.admin("POST", "/admin/teams", { id: "red", name: "Red team" });
    const { body } = await app.admin("POST", "/admin/keys", {
      key: "sk-laptop-0123456789",
      id: "laptop",
      name: "Laptop",
      team: "red",
    });
    expect(body["success"]).toBe(true);
    const laptop = { authorization: "Bearer sk-laptop-0123456789" };
    await (
      await app.chat(
        "from the laptop",
        { model: "gpt-4o", user: END_USER },
        { ...laptop, "x-gateway-tags": "nightly" },
      )
    ).text();
    await (await app.chat("from the development key")).text();
    await (await app.chat("[[status:500:server_error]] broken", {}, laptop)).text();
    const { items } = await until(
      async () => (await app.admin("GET", "/admin/chat-history?q=from the laptop")).body,
      (list) => Object(list["items"]).length === 1,
    ).then((list) => ({ items: Object(list["items"]) }));
    recordId = items[0].id;
  });

  /** The id of the ended record with this text. */
  const findRecord = async (text: string): Promise<string | undefined> => {
    const { body } = await app.admin("GET", `/admin/chat-history?status=success&q=${text}`);
    return Object(body["items"])[0]?.id;
  };

  it("names the work of a record that is no generation", async () => {
    const page = await app.at("overview");
    // The sandbox has no endpoint of this kind.
    await page.route("**/admin/chat-history*", async (route) => {
      const response = await route.fetch();
      const { items, ...rest } = await response.json();
      const [first, ...others] = items;
      const shown = [{ ...first, operation: "realtime" }, ...others];
      await route.fulfill({ response, json: { ...rest, items: shown } });
    });
    await goTo(page, "history");
    await page.getByRole("row").filter({ hasText: "Realtime" }).waitFor();
    expect(await page.getByRole("link", { name: "OpenAI chat completions" }).count()).toBe(2);
  });

  it("names the function that an answer calls, and opens such a record with its tool calls", async () => {
    const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
    const id = await app
      .chat("[[call:get_weather:{}]] what a day", { tools })
      .then((answer) => answer.text())
      .then(() =>
        until(
          () => findRecord("what a day"),
          (found) => found !== undefined,
        ),
      );
    const page = await app.at("history");
    const row = page.getByRole("row", { name: /what a day/ });
    await row.getByText("calls get_weather", { exact: true }).waitFor();
    await row.getByRole("link", { name: /what a day/ }).click();
    const tab = page.getByRole("tab", { name: "Tool calls" });
    await tab.waitFor();
    expect(await tab.getAttribute("aria-selected")).toBe("true");
    await page.getByRole("region", { name: "Tool calls" }).getByText("get_weather").waitFor();
    await page.getByRole("tab", { name: "Answer" }).click();
    await page.getByRole("region", { name: "Answer" }).waitFor();
    // The other tests count the records.
    await app.admin("DELETE", `/admin/chat-history/${id}`);
  });

  it("filters by names, and by a click on each value of the list", async () => {
    const page = await app.at("history");
    const row = page.getByRole("row", { name: /from the laptop/ });
    await row.getByRole("link", { name: "Team Red team" }).click();
    await page.getByText("2 records;").waitFor();
    expect(page.url()).toMatch(/#\/history\?team=Red\+team$/);
    expect(await page.getByLabel("Team", { exact: true }).inputValue()).toBe("Red team");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("3 records;").waitFor();
    await page.getByText("Filters", { exact: true }).click();
    await page.getByLabel("Key", { exact: true }).fill("lapt");
    await page.getByText("2 records;").waitFor();
    for (const [value, address] of [
      ["success", "status=success"],
      ["translated", "path=translated"],
      ["OpenAI chat completions", "dialect=chat-completions"],
      ["Laptop", "key=Laptop"],
      ["requested: gpt-4o", "model=gpt-4o"],
    ] as const) {
      await row.getByRole("link", { name: value, exact: true }).click();
      await expect.poll(() => page.url()).toContain(address);
    }
    await page.getByText("1 record;").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it.each([1_440, 390])(
    "shows the end user in one line, %s pixels wide, and finds it by a click",
    async (width) => {
      const page = await app.at("history", { width });
      const row = page.getByRole("row", { name: /from the laptop/ });
      const user = row.getByRole("link", { name: END_USER, exact: true });
      const [line, team] = [await user.boundingBox(), await row.getByText("Team Red team").boundingBox()];
      expect(line?.height).toBe(team?.height);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      expect(await violations(page)).toEqual([]);
      await page.getByText("3 records;").waitFor();
      await user.click();
      await page.getByText("1 record;").waitFor();
      expect(await page.getByRole("searchbox").inputValue()).toBe(END_USER);
      await row.waitFor();
    },
  );

  it("opens the record by a click anywhere in its row, but not where text is selected", async () => {
    const page = await app.at("history");
    const row = page.getByRole("row", { name: /from the laptop/ });
    const dialog = page.getByRole("dialog");
    await row.getByRole("cell").last().click();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    // The filters of a cell end with their texts. The room beside them belongs to the row.
    const status = row.getByRole("cell").nth(1);
    const room = await status.boundingBox();
    if (room === null) throw new Error("it is not shown");
    await status.click({ position: { x: room.width - 4, y: room.height / 2 } });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    const box = await row.getByRole("cell").last().boundingBox();
    if (box === null) throw new Error("it is not shown");
    await page.mouse.move(box.x + 4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(await page.evaluate("getSelection().isCollapsed")).toBe(false);
    expect(await dialog.count()).toBe(0);
  });

  it.each([1_100, 1_200, 1_280, 1_370])(
    "leaves room for the request in a window of %i pixels",
    async (width) => {
      const page = await app.at("history", { width });
      const link = page.getByRole("link", { name: "from the laptop" });
      await link.waitFor();
      expect((await link.boundingBox())?.width).toBeGreaterThan(90);
    },
  );

  it("finds errors by the codes that it shows", async () => {
    const page = await app.at("history");
    const row = page.getByRole("row", { name: /broken/ });
    const code = (
      await row
        .getByRole("link", { name: /^[a-z]+(?: [a-z]+)+$/ })
        .first()
        .innerText()
    ).trim();
    await page.getByLabel(/^Search/).fill(code);
    await page.getByText("1 record;").waitFor();
    await row.waitFor();
    await page.getByLabel(/^Search/).fill("");
    await page.getByText("3 records;").waitFor();
    await row.getByRole("link", { name: code, exact: true }).click();
    await page.getByText("1 record;").waitFor();
    await row.getByRole("link", { name: "error 503" }).click();
    await page.getByText("1 record;").waitFor();
    expect(page.url()).toContain("code=503");
  });

  it("shows each attempt with account, duration and reason, and filters by a record's values", async () => {
    const page = await app.at("history");
    await page.getByRole("link", { name: /broken/ }).click();
    const timeline = page.getByRole("list", { name: "Timeline" });
    const attempt = timeline.getByRole("listitem").filter({ hasText: "Attempt 1:" });
    expect(await attempt.innerText()).toMatch(/with \w+@sandbox\.test failed: \w+ 500, .+, [\d.]+ m?s$/);
    const account = attempt.getByRole("link", { name: /@sandbox\.test$/ });
    const name = await account.innerText();
    await account.click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).toContain(`account=${encodeURIComponent(name)}`);
    await page.goto(`/admin#/history/${recordId}`);
    const facts = page.locator("dl.facts");
    await facts.getByText("nightly").waitFor();
    expect(await violations(page)).toEqual([]);
    await facts.getByRole("link", { name: "Red team" }).click();
    await page.getByText("2 records;").waitFor();
  });

  it("labels every value on a phone", async () => {
    const page = await app.at("history", { width: 390 });
    const row = page.getByRole("row", { name: /from the laptop/ });
    await row.waitFor();
    const labels = await row
      .locator("td")
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute("data-label")));
    expect(labels).toEqual([
      "Time",
      "Status",
      "Request and answer",
      "Key",
      "Model",
      "Account",
      "Tokens",
      "Cost",
      "Duration",
    ]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  });

  it("finds refused requests by the name that was asked for, and by their code", async () => {
    for (const text of ["one", "two"]) await (await app.chat(text, { model: "no-such-model" })).text();
    await until(
      async () => (await app.admin("GET", "/admin/chat-history?model=no-such-model")).body,
      (list) => Object(list["items"])[0]?.refusals === 2,
    );
    const page = await app.at("history");
    const row = page.getByRole("row", { name: /Refused by the gateway/ });
    await row.getByText("refused 2 times").waitFor();
    await row.getByRole("link", { name: "no-such-model" }).click();
    await page.getByText("1 record;").waitFor();
    await row.getByRole("link", { name: "model not found" }).click();
    await page.getByText("1 record;").waitFor();
    await row.getByRole("link", { name: "Refused by the gateway" }).click();
    await page.getByText("2, equal ones of a minute in one record").waitFor();
    expect(await page.getByRole("button", { name: "Send again now" }).count()).toBe(0);
  });
});
