import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { useConsole, violations } from "../support/use-console.ts";

const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describeWithBrowser("sending requests from the console", () => {
  const app = useConsole();

  /** The body of the next request that the playground sends to this path. */
  const nextBody = async (page: Page, path: string) => {
    const request = await page.waitForRequest(
      (sent) => sent.method() === "POST" && sent.url().endsWith(path),
    );
    return Object(request.postDataJSON());
  };

  it("sends a record again, unchanged or edited, with its tools and parameters", async () => {
    const parameters = { description: "", parameters: { type: "object" } };
    const tools = [{ type: "function", function: { name: "look_up", ...parameters } }];
    await (
      await app.chat("[[say:Once more.]] again", {
        ...{ tools, temperature: 0.3, max_tokens: 77, top_p: 0.9, user: "chen", verbosity: "low" },
      })
    ).text();
    const { items } = await until(
      async () => Object((await app.admin("GET", "/admin/chat-history?status=success")).body),
      (list) => list.items.length === 1,
    );
    const page = await app.at(`history/${items[0].id}`);
    const sent = nextBody(page, "/v1/chat/completions");
    await page.getByRole("button", { name: "Send again now" }).click();
    expect(await sent).toMatchObject({
      messages: [{ role: "user", content: "[[say:Once more.]] again" }],
      tools: [{ function: { name: "look_up", ...parameters } }],
      ...{ temperature: 0.3, max_tokens: 77, top_p: 0.9, user: "chen" },
    });
    const conversation = page.getByRole("region", { name: "Conversation" });
    await conversation.getByText("Once more.", { exact: true }).waitFor();

    // An unchanged conversation can be sent again.
    const repeated = nextBody(page, "/v1/chat/completions");
    await page.getByRole("button", { name: "Send again" }).click();
    expect((await repeated).messages).toHaveLength(1);
    await page.getByText(/done after/).waitFor();

    await page.goto(`/admin#/history/${items[0].id}`);
    await page.getByText(/Sent again without: verbosity, its API key/).waitFor();
    await page.getByRole("button", { name: "Edit and send" }).click();
    expect(await page.getByLabel("Temperature").inputValue()).toBe("0.3");
    expect(await page.getByLabel("Maximum tokens").inputValue()).toBe("77");
    expect(await page.getByLabel("Message").inputValue()).toBe("[[say:Once more.]] again");
    await page.getByLabel("Message").fill("[[say:Edited.]]");
    const edited = nextBody(page, "/v1/chat/completions");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    expect(await edited).toMatchObject({
      messages: [{ role: "user", content: "[[say:Edited.]]" }],
      user: "chen",
    });
    await conversation.getByText("Edited.", { exact: true }).waitFor();
  });

  it.each([
    ["chat-completions", "/v1/chat/completions"],
    ["responses", "/v1/responses"],
    ["messages", "/anthropic/v1/messages"],
    ["content-generation", "streamGenerateContent?alt=sse"],
    ["model-runner", "/api/chat"],
  ])("attaches a picture, and sets parameters, by %s", async (dialect, path) => {
    const page = await app.at("playground");
    await page.getByLabel("API style").selectOption(dialect);
    await page.getByLabel("Temperature").fill("0.25");
    await page.getByLabel("Maximum tokens").fill("123");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: PICTURE });
    await page.getByRole("list", { name: "Attachments" }).getByText("dot.png").waitFor();
    await page.getByLabel("Message").fill("[[say:Seen.]]");
    const sent = nextBody(page, path);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const body = JSON.stringify(await sent);
    for (const part of [PICTURE.toString("base64"), "0.25", "123"]) expect(body).toContain(part);
    await page.getByText(/^HTTP 200/).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("names what a style cannot contain, and leaves it out", async () => {
    const page = await app.at("playground");
    await page.getByLabel("API style").selectOption("model-runner");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "notes.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4") });
    await page.getByText("Not sent, because this API style cannot contain it: notes.pdf").waitFor();
    await page.getByRole("button", { name: "Remove notes.pdf" }).click();
    await page.getByText("Not sent, because").waitFor({ state: "detached" });
  });

  it("gives a second model the conversation that the first one has had", async () => {
    const page = await app.at("playground");
    await page.getByLabel("Message").fill("[[say:The first answer.]]");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("The first answer.", { exact: true }).waitFor();
    await page.getByLabel("Compare with").selectOption("provider-v4-pro");
    const second = page.getByRole("region", { name: "provider-v4-pro", exact: true });
    await second.getByText("The first answer.", { exact: true }).waitFor();
    await second.getByText("Answer of provider-v4-flash").waitFor();
    await page.getByLabel("Message").fill("And now?");
    const bodies: { messages: unknown[] }[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/chat/completions")) bodies.push(request.postDataJSON());
    });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await expect.poll(() => bodies.length).toBe(2);
    expect(bodies[1]?.messages).toEqual(bodies[0]?.messages);
    expect(bodies[0]?.messages).toHaveLength(3);
  });

  it.each([1_280, 390])("compares two models side by side, %i pixels wide", async (width) => {
    const page = await app.at("playground", { width });
    await page.getByLabel("Compare with").selectOption("provider-v4-pro");
    await page.getByLabel("Message").fill("[[say:From both.]]");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    for (const name of ["provider-v4-flash", "provider-v4-pro"]) {
      await page
        .getByRole("region", { name, exact: true })
        .getByText("From both.", { exact: true })
        .waitFor();
    }
    await page.getByRole("button", { name: "provider-v4-pro", exact: true }).click();
    await page.getByRole("tab", { name: "Request" }).click();
    expect(await page.getByRole("region", { name: "Code" }).innerText()).toContain("provider-v4-pro");
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  });
});
