import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { html, useSite } from "../support/pages.ts";

const TELL = `<script>(async () => {
  const data = navigator.userAgentData;
  await fetch("/identity", { method: "POST", body: JSON.stringify({
    languages: navigator.languages, language: navigator.language, formatted: new Intl.NumberFormat().resolvedOptions().locale,
    screen: [screen.width, screen.height], viewport: [innerWidth, innerHeight], platform: navigator.platform,
    agent: navigator.userAgent, mobile: data?.mobile, hint: data?.platform, webdriver: navigator.webdriver,
  }) });
})()</script>`;

describeWithBrowser("the browser as pages see it", () => {
  let identity: Record<string, unknown> = {};
  let headers: Record<string, unknown> = {};

  const pages = useSite((request, response, { pathname }) => {
    if (pathname === "/identity") {
      let text = "";
      request.on("data", (chunk) => {
        text += String(chunk);
      });
      return request.on("end", () => {
        identity = JSON.parse(text);
        response.end();
      });
    }
    if (pathname === "/") headers = request.headers;
    if (pathname === "/latin") return html(response, "<p>Plain — “é” ₤ Ж ω</p>");
    // Linear B: few machines have a font for it.
    if (pathname === "/linear-b") return html(response, "<p>\u{10000}</p><script>/* \u05d0 */</script>");
    // Tifinagh: many machines have a font for it.
    if (pathname === "/in-part") return html(response, "<p>\u2d30\u{10000}</p>");
    if (pathname !== "/comments") return html(response, TELL);
    response.setHeader("content-type", "text/html");
    return response.end("<html><head><title>x</title></head><body></body></html><!-- cPanel -->");
  });

  const ask = async (operation: string, query: Record<string, string> = {}, path = "/") => {
    const response = await pages.gateway.fetch(
      `/v1/${operation}?${new URLSearchParams({ url: pages.origin + path, maxAge: "0", ...query })}`,
    );
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  it("speaks American English and has the screen of its device, for every operation", async () => {
    for (const operation of ["thumbs", "metadata", "technologies"]) {
      await ask(operation);
      expect(identity).toMatchObject({
        language: "en-US",
        languages: ["en-US", "en"],
        formatted: "en-US",
        screen: [1200, 1200],
        viewport: [1200, 1200],
        platform: "Linux x86_64",
        mobile: false,
        hint: "Linux",
      });
      expect(identity["agent"]).not.toContain("Headless");
      expect(headers["accept-language"]).toMatch(/^en-US,en;q=0\.\d$/);
      expect(headers["sec-ch-ua-mobile"]).toBe("?0");
    }
  });

  it("presents itself consistently as a phone for mobile, and uses the caller's language", async () => {
    await ask("thumbs", { mobile: "true", locale: "de-CH" });
    expect(identity).toMatchObject({
      language: "de-CH",
      formatted: "de-CH",
      screen: [412, 732],
      platform: "Linux armv81",
      mobile: true,
      hint: "Android",
    });
    expect(headers["sec-ch-ua-mobile"]).toBe("?1");
    expect(headers["sec-ch-ua-platform"]).toBe('"Android"');
    expect(headers["accept-language"]).toBe("de-CH");
  });

  it("states which scripts of a page the browser cannot draw", async () => {
    const missing = async (path: string) =>
      (
        await pages.gateway.fetch(`/v1/thumbs?${new URLSearchParams({ url: pages.origin + path })}`)
      ).headers.get("x-page-missing-glyphs");
    expect(await missing("/latin")).toBeNull();
    expect(await missing("/linear-b")).toBe("Other");
    expect(await missing("/in-part")).toBe("Other");
  });

  it("reads comments outside the root element", async () => {
    const { applications } = JSON.parse((await ask("technologies", {}, "/comments")).toString());
    expect(applications.map(({ name }: { name: string }) => name)).toContain("cPanel");
  });
});
