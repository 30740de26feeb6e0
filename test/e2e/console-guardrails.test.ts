import type { Locator, Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { useConsole, violations } from "../support/use-console.ts";

const CARD = "4111 1111 1111 1111";

describeWithBrowser("guardrails in the console", () => {
  const app = useConsole();
  const stored = async () => (await app.admin("GET", "/admin/guardrails")).body;
  const rule = (page: Page, name: string): Locator => page.locator("details.rule").filter({ hasText: name });
  const save = async (page: Page) => {
    await page.getByRole("button", { name: "Save guardrails" }).click();
    await page.getByText("Guardrails saved").first().waitFor();
  };

  afterEach(() => app.admin("PUT", "/admin/guardrails", { rules: [], unchecked_endpoints: "refuse" }));

  it("begin with an example, are tried before they are saved, and then hold", async () => {
    const page = await app.at("guardrails");
    await page.getByText("No guardrails yet").waitFor();
    await page.getByRole("button", { name: "Mask card numbers" }).click();
    await page.getByLabel("Replacement").fill("[a card]");
    await page.getByLabel("Text", { exact: true }).fill(`my card is ${CARD}`);
    await page.getByRole("button", { name: "Check text" }).click();
    await page.getByText("my card is [a card]").waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await stored()).toMatchObject({ rules: [] });
    await save(page);
    expect(await stored()).toMatchObject({ rules: [{ id: "cards", stage: "both", applies_to: "all" }] });
    // The gateway applies it within two seconds everywhere.
    await expect.poll(async () => (await app.chat(`say ${CARD}`)).text()).toContain("[a card]");

    // The checks of answers differ from those of requests.
    await rule(page, "Card numbers").locator("summary").click();
    await page.getByLabel("Checks", { exact: true }).selectOption({ label: "Answers" });
    await page.getByRole("button", { name: "Check text" }).click();
    await page.getByText("Allowed, without a change.").waitFor();
    await page.getByLabel("Text that matches").selectOption("deny");
    await page.getByLabel("Check the text as part of").selectOption("after");
    await page.getByRole("button", { name: "Check text" }).click();
    await page.getByText('Denied: the content is not allowed (guardrail "Card numbers")').waitFor();
  });

  it("of all kinds are edited, ordered, switched off and removed", async () => {
    const page = await app.at("guardrails");
    for (const name of ["Limit the size", "Ask a moderation service", "Deny private keys"]) {
      await page.getByRole("button", { name }).click();
    }
    // New rules are open, so each kind of form is checked.
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [390, 1_280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 860 });
        expect.soft(await violations(page), `${colorScheme}, ${width} pixels wide`).toEqual([]);
      }
    }
    const webhook = rule(page, "Moderation");
    await webhook.getByLabel("Token", { exact: true }).fill("a-webhook-token");
    await webhook
      .getByLabel("Applies to")
      .selectOption({ label: "Only keys, teams and users that select it" });
    await webhook.getByLabel("If the service does not answer").selectOption("allow");
    await rule(page, "Long requests").getByLabel("Maximum characters").fill("500");
    await page.getByRole("button", { name: "Move up Private keys" }).click();
    await page.getByLabel("Allow endpoints whose texts are not checked").check();
    await save(page);
    expect(await stored()).toMatchObject({
      unchecked_endpoints: "allow",
      rules: [
        { id: "size", type: "size", max_chars: 500 },
        { id: "private-keys", type: "expressions" },
        { id: "moderation", applies_to: "keys", on_failure: "allow", has_token: true },
      ],
    });

    // The token is not shown, and stays unless it is removed. The id is fixed.
    await webhook.locator("summary").click();
    expect(await webhook.getByLabel("Token", { exact: true }).inputValue()).toBe("");
    expect(await webhook.getByLabel("ID", { exact: true }).isDisabled()).toBe(true);
    await webhook.getByLabel("Disabled").check();
    await save(page);
    expect(await stored()).toMatchObject({ rules: [{}, {}, { disabled: true, has_token: true }] });
    await webhook.getByLabel("Remove the stored token").check();
    await rule(page, "Long requests").locator("summary").click();
    await page.getByRole("button", { name: "Remove Long requests" }).click();
    await save(page);
    expect((await stored())["rules"]).toMatchObject([
      { id: "private-keys" },
      { id: "moderation", has_token: false },
    ]);
  });

  it("show at the field why one is refused, and keep the input", async () => {
    const page = await app.at("guardrails");
    await page.getByRole("button", { name: "Deny private keys" }).click();
    const pattern = page.getByLabel("Pattern");
    await pattern.fill("(");
    await page.getByRole("button", { name: "Save guardrails" }).click();
    await page.getByText("Not saved. Fix: Pattern.").waitFor();
    await page.getByText("not a regular expression of RE2").waitFor();
    expect(await pattern.inputValue()).toBe("(");
    await expect.poll(() => page.evaluate("document.activeElement.ariaInvalid")).toBe("true");
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("No guardrails yet").waitFor();
  });

  it("are found by the search, which opens them", async () => {
    await app.admin("PUT", "/admin/guardrails", {
      rules: [{ id: "huge", name: "Huge prompts", type: "size", max_chars: 9, applies_to: "keys" }],
    });
    const page = await app.at("overview");
    await page.keyboard.press("Control+K");
    await page.getByRole("combobox", { name: /^Search/ }).fill("huge pro");
    await page.getByRole("option", { name: /Huge prompts/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Guardrails" }).waitFor();
    await page.getByLabel("Maximum characters").waitFor();
  });
});
