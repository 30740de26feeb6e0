import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { saved, useConsole, violations } from "../support/use-console.ts";

/** An entry that two administrators edit: `field` of its form has the value of `read`. */
interface Shared {
  readonly kind: string;
  readonly page: string;
  readonly path: string;
  readonly edit: (page: Page) => Locator;
  readonly field: string;
  readonly change: (value: string) => unknown;
  readonly read: (body: Readonly<Record<string, unknown>>) => unknown;
}

const inRow = (name: RegExp) => (page: Page) =>
  page.getByRole("row", { name }).getByRole("button", { name: /^Edit/ });

const ENTRIES: readonly Shared[] = [
  {
    kind: "a key",
    page: "keys",
    path: "/admin/keys/shared",
    edit: inRow(/Shared key/),
    field: "Remark",
    change: (remark) => ({ remark }),
    read: ({ remark }) => remark,
  },
  {
    kind: "an account",
    page: "accounts",
    path: "/admin/accounts/one@sandbox.test",
    edit: inRow(/one@sandbox\.test/),
    field: "Remark",
    change: (remark) => ({ remark }),
    read: ({ remark }) => remark,
  },
  {
    kind: "a provider",
    page: "providers",
    path: "/admin/providers/shared",
    edit: inRow(/backend\.test/),
    field: "Name",
    change: (name) => ({ name }),
    read: ({ name }) => name,
  },
  {
    kind: "a proxy",
    page: "proxies",
    path: "/admin/proxies/shared",
    edit: inRow(/proxy\.test/),
    field: "Name",
    change: (name) => ({ name }),
    read: ({ name }) => name,
  },
  {
    kind: "a route",
    page: "models",
    path: "/admin/routes/shared",
    edit: (page) => page.getByRole("button", { name: "Edit the route shared" }),
    field: "Weight of model 1",
    change: (weight) => ({ models: [{ model: "provider-v4-pro", weight: Number(weight) }] }),
    read: ({ models }) => JSON.stringify(models),
  },
];

/** What is typed into the field, and sent by the other administrator. */
const valueFor = ({ kind }: Shared, number: number) => (kind === "a route" ? `${number}` : `value ${number}`);
const typed = valueFor;

describeWithBrowser("two administrators who edit the same", () => {
  const app = useConsole();

  beforeAll(async () => {
    for (const [path, body] of [
      ["/admin/keys", { key: "sk-shared-0123456789", id: "shared", name: "Shared key" }],
      ["/admin/providers", { id: "shared", driver: "openai", base_url: "https://backend.test" }],
      ["/admin/proxies", { id: "shared", type: "http", host: "proxy.test", port: 1 }],
      ["/admin/routes", { name: "shared", models: ["provider-v4-pro"] }],
    ] as const) {
      expect((await app.admin("POST", path, body)).status).toBe(200);
    }
  });

  it.each(ENTRIES)("get a warning before one overwrites the other: $kind", async (shared) => {
    const theirs = (number: number) => app.admin("PUT", shared.path, shared.change(valueFor(shared, number)));
    const stored = async () => shared.read((await app.admin("GET", shared.path)).body);
    const page = await app.at(shared.page);
    await shared.edit(page).click();
    const dialog = page.getByRole("dialog");
    const field = dialog.getByLabel(shared.field, { exact: true });
    await field.fill(typed(shared, 1));
    expect((await theirs(2)).status).toBe(200);
    const other = await stored();
    await dialog.getByRole("button", { name: "Save" }).click();
    const conflict = dialog.getByRole("alert").filter({ hasText: "somebody else has changed" });
    await conflict.waitFor();
    expect([await stored(), await field.inputValue()]).toEqual([other, typed(shared, 1)]);
    // Both versions stand side by side.
    const versions = conflict.getByRole("row").filter({ hasText: typed(shared, 1) });
    await versions
      .filter({ hasText: typed(shared, 2) })
      .first()
      .waitFor();
    expect(await violations(page)).toEqual([]);

    await conflict.getByRole("button", { name: "Reload" }).click();
    await conflict.waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe(typed(shared, 2));
    await field.fill(typed(shared, 3));
    await theirs(4);
    await dialog.getByRole("button", { name: "Save" }).click();
    await conflict.getByRole("button", { name: "Overwrite" }).click();
    await saved(dialog);
    expect(await stored()).toContain("3");

    // When the form is opened afterwards, it asks no question.
    await shared.edit(page).click();
    expect(await field.inputValue()).toBe(typed(shared, 3));
    await field.fill(typed(shared, 5));
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    expect(await stored()).toContain("5");
  });

  it("return to the button that they used, or to the page if it is gone", async () => {
    await app.admin("POST", "/admin/keys", { key: "sk-short-0123456789", id: "short", name: "Short key" });
    const page = await app.at("keys");
    const row = page.getByRole("row", { name: /Short key/ });
    const isFocused = (button: Locator) => button.evaluate((element) => element.matches(":focus"));
    for (const name of [/^Edit/, /^Delete/]) {
      const button = row.getByRole("button", { name });
      await button.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await expect.poll(() => isFocused(button)).toBe(true);
    }
    await row.getByRole("button", { name: /^Delete/ }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Delete/ })
      .click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("MAIN");
  });

  it("save an account and its proxy in one form", async () => {
    const path = "/admin/accounts/two@sandbox.test";
    const page = await app.at("accounts");
    await page.getByRole("button", { name: "Edit two@sandbox.test" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Remark").fill("with a proxy");
    await dialog.getByLabel("Proxy").selectOption("shared");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    expect((await app.admin("GET", path)).body).toMatchObject({ remark: "with a proxy", proxy_id: "shared" });
  });

  it("see the current state, and not what the list showed", async () => {
    const page = await app.at("keys");
    await page.getByRole("row", { name: /Shared key/ }).waitFor();
    await app.admin("PUT", "/admin/keys/shared", { remark: "newer than the list" });
    await inRow(/Shared key/)(page).click();
    await page.getByRole("dialog").getByLabel("Remark").waitFor();
    expect(await page.getByRole("dialog").getByLabel("Remark").inputValue()).toBe("newer than the list");
    await page.keyboard.press("Escape");
    await app.admin("POST", "/admin/keys", { key: "sk-gone-0123456789", id: "gone", name: "Gone key" });
    await page.reload();
    await page.getByRole("row", { name: /Gone key/ }).waitFor();
    await app.admin("DELETE", "/admin/keys/gone");
    await inRow(/Gone key/)(page).click();
    await page.getByRole("dialog", { name: "Edit key" }).getByText("does not exist").waitFor();
  });

  it.each([
    {
      kind: "the settings",
      page: "settings",
      path: "/admin/settings",
      field: "History",
      action: "Save",
      values: ["11", "12", "13", "14"],
      change: (value: string) => ({ history: { limit: Number(value) } }),
    },
    {
      kind: "the guardrails",
      page: "guardrails/size",
      path: "/admin/guardrails",
      field: "Maximum characters",
      action: "Save guardrails",
      values: ["101", "102", "103", "104"],
      change: (value: string) => ({ rules: [{ id: "size", type: "size", max_chars: Number(value) }] }),
    },
    {
      kind: "the identity provider",
      page: "administrators",
      path: "/admin/oidc/settings",
      field: "Label of the button",
      action: "Save identity provider",
      values: ["mine", "theirs", "mine again", "theirs again"],
      change: (label: string) => ({ label }),
    },
  ])("see both versions at a conflict: $kind", async (form) => {
    const [mine = "", theirs = "", mineAgain = "", theirsAgain = ""] = form.values;
    const put = (value: string) => app.admin("PUT", form.path, form.change(value));
    const stored = async () => JSON.stringify((await app.admin("GET", form.path)).body);
    await put("100");
    const page = await app.at(form.page);
    const field = page.getByLabel(form.field, { exact: true });
    await field.fill(mine);
    await put(theirs);
    const save = page.getByRole("button", { name: form.action, exact: true });
    await save.click();
    const conflict = page.getByRole("alert").filter({ hasText: "somebody else has changed" });
    const versions = conflict.getByRole("row").filter({ hasText: mine }).filter({ hasText: theirs });
    await versions.first().waitFor();
    expect(await conflict.getByRole("row").count()).toBe(2);
    expect(await violations(page)).toEqual([]);
    expect(await stored()).toContain(theirs);
    await conflict.getByRole("button", { name: "Reload" }).click();
    await expect.poll(() => field.inputValue()).toBe(theirs);
    await field.fill(mineAgain);
    await put(theirsAgain);
    await save.click();
    await conflict.getByRole("button", { name: "Overwrite" }).click();
    await page
      .getByText(/ saved$/)
      .first()
      .waitFor();
    expect(await stored()).toContain(mineAgain);
    // Nothing is left to save.
    expect([await field.inputValue(), await save.count()]).toEqual([mineAgain, 0]);
  });

  it("keep each other's aliases and prices", async () => {
    const page = await app.at("models");
    await page.getByRole("button", { name: "Add alias" }).click();
    await app.admin("PUT", "/admin/settings", { model_aliases: { theirs: "provider-v4-pro" } });
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Requested name").fill("mine");
    await dialog.getByRole("button", { name: "Save alias" }).click();
    await saved(dialog);
    const { body } = await app.admin("GET", "/admin/settings");
    expect(Object.keys(Object(body["model_aliases"])).sort()).toEqual(["mine", "theirs"]);
  });
});
