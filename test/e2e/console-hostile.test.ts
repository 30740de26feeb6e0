import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { cacheFolder } from "../../scripts/development.mjs";
import { describeWithBrowser } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { goTo, useConsole } from "../support/use-console.ts";

/** Where pictures go, for people to look at, when they are asked for. */
const PICTURES = process.env["PICTURES"] === undefined ? null : join(cacheFolder, "console-pictures");

const MARKUP = `<img src=x onerror="window.ran=1"><script>window.ran=1</script><svg onload=window.ran=1>"'>&lt;{{7+7}}\${1}`;
/** Overrides and isolates that are never closed, marks, combining characters, and a word without a break. */
const BIDI = `\u202e\u2066\u2067evil\u200f\u061c${"\u0301".repeat(300)}`;
const WORD = "W".repeat(1_000_000);
const CONTROL = "\u0000\u0001\u0008\u001b[31m\u007f\u009f\u2028\u2029\ufffe\ufeff\ud800";
/** What a configuration may hold: control characters are refused there. */
const LABELS = [MARKUP, BIDI, WORD, `javascript:window.ran=1//${"\u{1f469}\u200d".repeat(400)}`];
const TEXTS = [...LABELS, CONTROL];

const say = (text: string) => `[[say64:${Buffer.from(text.toWellFormed()).toString("base64")}]]`;

describeWithBrowser("hostile data in the console", () => {
  const app = useConsole();

  beforeAll(async () => {
    if (PICTURES !== null) mkdirSync(PICTURES, { recursive: true });
    const { status, body } = await app.admin("POST", "/admin/config/import", {
      api_keys: LABELS.map((name, index) => ({ key: `sk-hostile-${index}-0123456789`, name, remark: name })),
      accounts: [
        ...LABELS.map((name, index) => ({
          email: `hostile${index}@sandbox.test`,
          password: "sandbox",
          name,
          remark: name,
        })),
        ...[MARKUP + BIDI, "W".repeat(20_000)].map((email) => ({
          email,
          password: "wrong-password",
        })),
      ],
      model_aliases: Object.fromEntries(LABELS.map((name) => [name.slice(0, 200_000), "provider-v4-pro"])),
      vercel: { token: "hosting-token-0123456789", project_id: MARKUP + WORD.slice(0, 5_000), team_id: BIDI },
    });
    expect([status, body]).toMatchObject([200, {}]);
    for (const name of LABELS) {
      await app.admin("POST", "/admin/proxies", {
        name,
        type: "http",
        host: name.slice(0, 20_000),
        port: 9,
        username: name,
      });
    }
    await app.admin("PUT", "/admin/settings", {
      captures: { enabled: true, limit: 50 },
      thinking_injection: { prompt: MARKUP + BIDI + WORD.slice(0, 50_000) },
    });
    await app.admin("POST", "/admin/accounts/test-all", {});
    for (const text of TEXTS) {
      const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
      // The others have proxies that lead nowhere.
      const account = { "x-gateway-target-account": "hostile0@sandbox.test" };
      const source = {
        ...account,
        "x-gateway-source": encodeURIComponent(text.slice(0, 200).toWellFormed()),
      };
      const model = LABELS.includes(text) && text.length < 200_000 ? text : "provider-v4-flash";
      for (const content of [
        `${text} ${say(text)}`,
        `[[call:look:${JSON.stringify({ a: text.slice(0, 100_000) })}]]`,
      ]) {
        const response = await app.chat(content, { model, tools }, source);
        const answer = await response.text();
        expect(response.status, answer.slice(0, 500)).toBe(200);
      }
    }
    await (await app.chat(`[[status:400:oops]] ${MARKUP}`)).text();
    await app.admin("POST", "/admin/dev/raw-samples/save", { query: "say64", sample_id: "W".repeat(60) });
    await until(
      () => app.admin("GET", "/admin/chat-history"),
      ({ body: list }) => Number(list["total"]) > 2 * TEXTS.length,
    );
  });

  /** Sees to it that a page is whole: nothing ran, and nothing makes it wider than the screen. */
  const whole = async (page: Page, what: string, width: number, shoot = false) => {
    const [ran, wide, policy] = await page.evaluate<[unknown, number, unknown]>(
      "[window.ran ?? null, document.scrollingElement.scrollWidth, window.policy ?? null]",
    );
    expect.soft([what, ran, wide <= width ? "fits" : wide, policy]).toEqual([what, null, "fits", null]);
    if (shoot && PICTURES !== null)
      await page.screenshot({ path: join(PICTURES, `hostile-${what}-${width}.png`) });
  };

  it.each([1_280, 390])(
    "runs no script and breaks no page, %i pixels wide",
    { timeout: 120_000 },
    async (width) => {
      const page = await app.at("overview", { width });
      await page.addInitScript(
        "addEventListener('securitypolicyviolation', (event) => { window.policy = event.violatedDirective; })",
      );
      const asked: string[] = [];
      page.on("dialog", (dialog) => {
        asked.push(dialog.message());
        void dialog.dismiss();
      });
      await page.reload();
      for (const [name, selector] of [
        ["overview", "main canvas"],
        ["history", "main tbody tr"],
        ["captures", "main tbody tr"],
        ["audit", "main tbody tr"],
        ["playground", "main textarea"],
        ["pages", "main input"],
        ["accounts", "main tbody tr"],
        ["keys", "main tbody tr"],
        ["proxies", "main tbody tr"],
        ["models", "main tbody tr"],
        ["settings", "main input"],
        ["transfer", "main textarea"],
        ["hosting", "main h2"],
      ] as const) {
        await goTo(page, name);
        await page.locator(`${selector} >> visible=true`).first().waitFor();
        await whole(page, name, width, true);
      }

      expect(asked).toEqual([]);
      // What follows is the same in both widths, and tighter in the narrow one.
      if (width > 390) return;
      for (const [name, button] of [
        ["accounts", /^Edit/],
        ["keys", /^Edit/],
        ["proxies", /^Edit/],
        ["models", /^(?:Edit|Change)/],
      ] as const) {
        await goTo(page, name);
        await page.getByRole("button", { name: button }).first().waitFor();
        for (const place of [1, 3]) {
          const edit = page.getByRole("button", { name: button }).nth(place);
          if ((await edit.count()) === 0) continue;
          await edit.click();
          await page.getByRole("dialog").waitFor();
          await whole(page, `${name}-edit-${place}`, width);
          await page.keyboard.press("Escape");
          await page.getByRole("dialog").waitFor({ state: "detached" });
        }
      }

      for (const name of ["history", "captures"]) {
        await goTo(page, name);
        const links = page.locator(`main a[href^="#/${name}/"]`);
        await links.first().waitFor();
        const count = Math.min(await links.count(), name === "history" ? 4 : 2);
        for (let place = 0; place < count; place += 1) {
          await links.nth(place).click();
          const dialog = page.getByRole("dialog");
          await dialog.getByRole("tab").first().waitFor();
          const tabs = await dialog.getByRole("tab").count();
          for (let tab = 0; tab < tabs; tab += 1) {
            await dialog.getByRole("tab").nth(tab).click();
            await whole(page, `${name}-${place}-${tab}`, width);
          }
          await page.keyboard.press("Escape");
          await dialog.waitFor({ state: "detached" });
        }
      }

      await goTo(page, "playground");
      for (const [index, text] of [MARKUP, BIDI, WORD].entries()) {
        await page.getByLabel("Message").fill(text.slice(0, 5_000) + say(text.slice(0, 100_000)));
        await page.getByRole("button", { name: "Send", exact: true }).click();
        // Not found by its text: that would search megabytes.
        await page.locator(".turn.assistant:not([aria-busy])").nth(index).waitFor();
        await whole(page, `playground-${TEXTS.indexOf(text)}`, width);
      }
      for (const tab of ["Request", "curl", "Raw answer"]) {
        await page.getByRole("tab", { name: tab }).click();
        await whole(page, `playground-${tab}`, width);
      }

      await goTo(page, "transfer");
      const imported = {
        model_aliases: { [MARKUP + WORD.slice(0, 9_000)]: "provider-v4-pro" },
        api_keys: [{ key: "sk-imported", name: BIDI + MARKUP }],
      };
      await page.getByLabel("Configuration").fill(JSON.stringify(imported));
      await page.getByRole("button", { name: "Show changes" }).click();
      await page.getByRole("button", { name: "Apply changes" }).waitFor();
      await whole(page, "transfer-difference", width);
      expect(asked).toEqual([]);
    },
  );
});
