import { describe, expect, it, vi } from "vitest";
import { parseMetadata } from "../../../../src/pages/metadata/parse-metadata.ts";

const URL_OF_PAGE = "https://example.com/a/page?x=1";
const read = (html: string, headers: Record<string, string[]> = {}, url = URL_OF_PAGE) =>
  parseMetadata({ html, url, headers });

describe("readMetadata", () => {
  it("tells what a page says of itself, with absolute addresses", () => {
    expect(
      read(`<!doctype html><html lang="de-CH"><head>
        <title>  Caf&eacute;
          &amp; more </title>
        <meta name="Description" content="What it is.">
        <link rel="canonical" href="/page">
        <meta property="og:title" content="For sharing">
        <meta property="og:image" content="../one.png"><meta property="og:image" content="/two.png">
        <meta property="og:image:width" content="1200">
        <meta name="og:site_name" content="Example">
        <link rel="shortcut icon" href="favicon.ico">
        <link rel="apple-touch-icon" sizes="180x180" href="//cdn.example/touch.png" type="image/PNG">
        <link rel="alternate" type="application/rss+xml" title="News" href="/feed">
        <link rel="alternate" type="application/atom+xml; charset=utf-8" href="feed.atom">
        <link rel="alternate" hreflang="fr" href="/fr"><link rel="stylesheet" href="/a.css">
        <link rel="alternate" type="application/json" href="/wp-json/1">
        </head><body><h1>Hello</h1></body></html>`),
    ).toEqual({
      title: "Café & more",
      description: "What it is.",
      canonical: "https://example.com/page",
      language: "de-CH",
      openGraph: {
        title: "For sharing",
        image: "https://example.com/one.png",
        "image:width": "1200",
        site_name: "Example",
      },
      icons: [
        { url: "https://example.com/a/favicon.ico", rel: "icon", type: null, sizes: null },
        {
          url: "https://cdn.example/touch.png",
          rel: "apple-touch-icon",
          type: "image/png",
          sizes: "180x180",
        },
      ],
      feeds: [
        { url: "https://example.com/feed", type: "application/rss+xml", title: "News" },
        {
          url: "https://example.com/a/feed.atom",
          type: "application/atom+xml; charset=utf-8",
          title: null,
        },
      ],
    });
  });

  it("says nothing of a page that says nothing", () => {
    const nothing = {
      title: null,
      description: null,
      canonical: null,
      language: null,
      openGraph: {},
      icons: [],
      feeds: [],
    };
    for (const html of ["", "plain text", "<title> </title><link rel=icon><meta name=description>"]) {
      expect(read(html)).toEqual(nothing);
    }
  });

  it("goes by the next best place where a page is silent", () => {
    const html = `<meta property="og:title" content="T"><meta property="og:description" content="D">`;
    const headers = {
      link: ['</style.css>; rel=preload, <https://example.org/x,y>; rel="canonical"'],
      "content-language": ["fr, en"],
    };
    expect(read(html, headers)).toMatchObject({
      title: "T",
      description: "D",
      canonical: "https://example.org/x,y",
      language: "fr",
    });
    const inMarkup = `<html lang="{{lang}}"><meta http-equiv="Content-Language" content="it">`;
    expect(read(inMarkup, headers).language).toBe("it");
  });

  it("resolves what stands before the base as browsers do", () => {
    expect(
      read(`<link rel=canonical href="c"><svg><base href="/svg/"></svg><base target=_top><base href="/b/">`)
        .canonical,
    ).toBe("https://example.com/b/c");
  });

  it("resolves addresses against the page's own base, and tells none that is not http(s)", () => {
    const { icons, canonical } = read(
      `<base href="/b/"><base href="/c/"><link rel=icon href="data:image/png,x"><link rel=icon href="i.png"><link rel=canonical href="javascript:alert(1)"><link rel=canonical href="http://">`,
    );
    expect(icons.map(({ url }) => url)).toEqual(["https://example.com/b/i.png"]);
    expect(canonical).toBeNull();
  });

  it("does not take for the page's what is a drawing's, a template's or for browsers without scripts", () => {
    const html = `<body><svg><title>Arrow</title></svg><template><title>No</title></template><noscript><link rel=icon href=/n></noscript><title>Yes</title>`;
    expect(read(html)).toMatchObject({ title: "Yes", icons: [] });
  });

  it("is bounded, whatever the page", () => {
    const many = (text: string) =>
      Array.from({ length: 300 }, (_, index) => text.replaceAll("$", String(index)));
    const long = "x".repeat(20_000);
    const { title, description, openGraph, icons, feeds, canonical } = read(
      [
        `<title>${long}</title><meta name=description content="${long}"><link rel=canonical href="/${long}">`,
        ...many(
          `<meta property="og:p$" content="${long.slice(0, 3_000)}"><link rel=icon href="/$"><link rel=alternate type=application/rss+xml href="/$">`,
        ),
        `<meta property="og:${long}" content=x>`,
      ].join(""),
    );
    expect([title?.length, description?.length, canonical]).toEqual([1_000, 5_000, null]);
    expect([Object.keys(openGraph).length, openGraph["p0"]?.length]).toEqual([100, 2_000]);
    expect([icons.length, feeds.length]).toEqual([50, 50]);
    expect(() => read(`${"<div>".repeat(100_000)}<meta property="og:__proto__" content=x>`)).not.toThrow();
  });

  it.each([
    ["links of no interest", "<link href=a>"],
    ["icons of which it has enough", "<link rel=icon href=a>"],
    ["canonical addresses that are none", "<link rel=canonical href='ftp:a'>"],
    ["properties that are no addresses", "<meta property=og:url content='ftp:a'>"],
  ])("does not resolve the addresses of all %s", (_, element) => {
    const counted = [vi.spyOn(URL, "canParse"), vi.spyOn(URL, "parse")];
    try {
      read(`<base href="/${"b".repeat(2_000)}">${element.repeat(3_000)}`);
      const calls = counted.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      expect(calls).toBeGreaterThan(0);
      expect(calls).toBeLessThanOrEqual(500);
    } finally {
      for (const spy of counted) spy.mockRestore();
    }
  });

  it("takes the first relation of a Link header, among several names", () => {
    const canonical = (text: string) => read("", { link: [text] }).canonical;
    const url = "https://example.com/c";
    for (const rel of ["canonical", "Canonical ; title=x", '"alternate canonical"', ' "canonical  x"']) {
      expect(canonical(`</c>; rel=${rel}`), rel).toBe(url);
    }
    for (const rel of ["next; rel=canonical", '"non-canonical"', '"canonical', "canonicals"]) {
      expect(canonical(`</c>; rel=${rel}`), rel).toBeNull();
    }
  });
});
