import { describe, expect, it, vi } from "vitest";
import { parseMetadata } from "../../../../src/pages/metadata/parse-metadata.ts";

const URL_OF_PAGE = "https://example.com/a/page?x=1";
const read = (html: string, headers: Record<string, string[]> = {}, url = URL_OF_PAGE) =>
  parseMetadata({ html, url, headers });

describe("the metadata parser", () => {
  it("reads what a page states, with absolute addresses", () => {
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
    ).toMatchObject({
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

  it("returns empty fields for a page that states nothing", () => {
    const nothing = {
      title: null,
      description: null,
      canonical: null,
      author: null,
      publisher: null,
      date: null,
      datePublished: null,
      dateModified: null,
      logo: null,
      image: null,
      language: null,
      textLanguage: null,
      keywords: [],
      robots: null,
      generator: null,
      openGraph: {},
      twitter: {},
      images: [],
      favicon: "https://example.com/favicon.ico",
      icons: [],
      feeds: [],
      jsonLd: [],
    };
    for (const html of ["", "plain text", "<title> </title><link rel=icon><meta name=description>"]) {
      expect(read(html)).toEqual({ ...nothing, wordCount: html === "plain text" ? 2 : 0 });
    }
  });

  it("uses the next best source if the preferred one is missing", () => {
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

  it("resolves addresses before the base element as browsers do", () => {
    expect(
      read(`<link rel=canonical href="c"><svg><base href="/svg/"></svg><base target=_top><base href="/b/">`)
        .canonical,
    ).toBe("https://example.com/b/c");
  });

  it("resolves addresses against the page's base, and omits those that are not http(s)", () => {
    const { icons, canonical } = read(
      `<base href="/b/"><base href="/c/"><link rel=icon href="data:image/png,x"><link rel=icon href="i.png"><link rel=canonical href="javascript:alert(1)"><link rel=canonical href="http://">`,
    );
    expect(icons.map(({ url }) => url)).toEqual(["https://example.com/b/i.png"]);
    expect(canonical).toBeNull();
  });

  it("ignores titles of drawings, and the content of templates and noscript elements", () => {
    const html = `<body><svg><title>Arrow</title></svg><template><title>No</title></template><noscript><link rel=icon href=/n></noscript><title>Yes</title>`;
    expect(read(html)).toMatchObject({ title: "Yes", icons: [] });
  });

  it("returns a bounded result for any page", () => {
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
  ])("resolves a limited number of addresses of %s", (_, element) => {
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

  it("uses the first relation name of a Link header", () => {
    const canonical = (text: string) => read("", { link: [text] }).canonical;
    const url = "https://example.com/c";
    for (const rel of ["canonical", "Canonical ; title=x", '"alternate canonical"', ' "canonical  x"']) {
      expect(canonical(`</c>; rel=${rel}`), rel).toBe(url);
    }
    for (const rel of ["next; rel=canonical", '"non-canonical"', '"canonical', "canonicals"]) {
      expect(canonical(`</c>; rel=${rel}`), rel).toBeNull();
    }
  });

  it("reads author, publisher and date from JSON-LD with graphs, lists and references", () => {
    const graph = JSON.stringify({
      "@context": "https://schema.org",
      "@graph": [
        {
          "@type": "NewsArticle",
          author: [{ "@id": "#me" }, { name: "Second" }],
          publisher: { name: "The Paper &amp; Sons", logo: { url: "/logo.png" } },
          datePublished: "2024-03-05T10:00:00+0100",
          dateModified: "2024-03-06T08:30:00Z",
          image: [{ url: "/one.jpg" }],
        },
        { "@type": "Person", "@id": "#me", name: "Ada Lovelace" },
      ],
    });
    const page = read(`<script type="application/ld+json">/*<![CDATA[*/ ${graph} /*]]>*/</script>
      <script type="application/ld+json">{"name": "line
      break"}</script><script type="application/ld+json">{broken</script><meta name="author" content="Someone else">`);
    expect(page).toMatchObject({
      author: "Ada Lovelace",
      publisher: "The Paper & Sons",
      date: "2024-03-06T08:30:00.000Z",
      datePublished: "2024-03-05T09:00:00.000Z",
      dateModified: "2024-03-06T08:30:00.000Z",
      logo: "https://example.com/logo.png",
      image: "https://example.com/one.jpg",
    });
    expect(page.jsonLd.map((object) => object["@type"] ?? object["name"])).toEqual([
      "NewsArticle",
      "Person",
      "line       break",
    ]);
    expect(page.jsonLd[0]).toMatchObject({ "@context": "https://schema.org" });
  });

  it("reads the same from meta elements and from microdata", () => {
    const byMeta = read(`<title>Story | Paper</title><meta name="author" content="By Ada Lovelace">
      <meta property="article:published_time" content="2024-03-05"><meta name="keywords" content="one, two,one">
      <meta property="article:tag" content="three"><meta name="robots" content="noindex">
      <meta name="generator" content="Hugo 0.1">`);
    expect(byMeta).toMatchObject({
      author: "Ada Lovelace",
      publisher: "Paper",
      date: "2024-03-05",
      keywords: ["one", "two", "three"],
      robots: "noindex",
      generator: "Hugo 0.1",
    });
    const byText =
      read(`<a id="logo">Paper</a><article><p class="byline">by <a class="author">Ada Lovelace</a></p>
      <time datetime="2024-03-05T10:00Z">Tuesday</time><img src="a.jpg"></article>`);
    expect(byText).toMatchObject({
      author: "Ada Lovelace",
      publisher: "Paper",
      date: "2024-03-05T10:00:00.000Z",
      image: "https://example.com/a/a.jpg",
    });
  });

  it("lists cards and all images with their sizes; a property wins over a name", () => {
    const page =
      read(`<meta name="og:title" content="By name"><meta property="og:title" content="By property">
      <meta name="twitter:card" content="summary"><meta name="twitter:image" content="/t.png">
      <meta property="og:image" content="/1.png"><meta property="og:image:width" content="1200">
      <meta property="og:image:height" content="630px"><meta property="og:image:alt" content="One">
      <meta property="og:image" content="javascript:1"><meta property="og:image:width" content="5">
      <meta property="og:image:url" content="/2.png">`);
    expect(page.openGraph["title"]).toBe("By property");
    expect(page.twitter).toEqual({ card: "summary", image: "https://example.com/t.png" });
    expect(page.images).toEqual([
      { url: "https://example.com/1.png", width: 1200, height: 630, type: null, alt: "One" },
    ]);
  });

  it("assigns the details of a repeated image to that image", () => {
    const page = read(`<meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png">
      <meta property="og:image" content="/1.png"><meta property="og:image:width" content="10">`);
    expect(page.images.map(({ url, width }) => [url, width])).toEqual([
      ["https://example.com/1.png", 10],
      ["https://example.com/2.png", null],
    ]);
  });

  it("finds feeds of the Link header, and the language and length of the text", () => {
    const header = '</feed.xml>; rel="alternate"; type="application/rss+xml"; title="News"';
    expect(read("", { link: [header] }).feeds).toEqual([
      { url: "https://example.com/feed.xml", type: "application/rss+xml", title: "News" },
    ]);
    expect(read("", { "x-robots-tag": ["noindex"] }).robots).toBe("noindex");
    const german =
      "<nav>Start</nav><p>Das ist der Text und er ist nicht lang, aber die Sprache ist zu erkennen.</p>";
    expect(read(german)).toMatchObject({ textLanguage: "de", wordCount: 15 });
    expect(read("<p>これは日本語の文章です。言語を判定できるだけの長さがあります。</p>").textLanguage).toBe(
      "ja",
    );
  });

  it("takes linear time and bounded memory for markup full of bylines", () => {
    const deep = `${'<div class="author byline date logo" itemprop="author date">x '.repeat(20_000)}`;
    expect(() => read(deep)).not.toThrow();
    const nested = `<script type="application/ld+json">${"[".repeat(50_000)}${"]".repeat(50_000)}</script>`;
    expect(read(nested).jsonLd).toEqual([]);
  });
});
