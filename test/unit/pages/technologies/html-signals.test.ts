import { describe, expect, it } from "vitest";
import { slimFingerprints } from "../../../../scripts/build-technologies.mjs";
import {
  parseCookieSignals,
  signalsFromHtml,
  TechnologyDetector,
} from "../../../../src/pages/technologies/index.ts";

const read = (html: string, headers: [string, string][] = [], url = "https://www.example.com/a/b") =>
  signalsFromHtml({ html, headers: new Headers(headers), url });

describe("signals from HTML", () => {
  it("contain meta elements by name or property, in lower case, also several with one name", () => {
    const { meta } = read(`<META NAME=Generator CONTENT="A 1"><meta name="generator" content="B &amp; C">
      <meta property="og:site_name" content="S"><meta charset="utf-8"><meta name="x"><meta name="__proto__" content="p">`);
    expect(Object.entries(meta ?? {})).toEqual([
      ["generator", ["A 1", "B & C"]],
      ["og:site_name", ["S"]],
      ["__proto__", ["p"]],
    ]);
  });

  it("contain each script's address once, resolved as in a browser", () => {
    const { scriptSrc } =
      read(`<script src="x.js"></script><script src="/y.js?a=1&amp;b=2"></script><script src=//cdn.example/z.js></script>
      <script src="x.js"></script><script src="http://[bad"></script>`);
    expect(scriptSrc).toEqual([
      "https://www.example.com/a/x.js",
      "https://www.example.com/y.js?a=1&b=2",
      "https://cdn.example/z.js",
    ]);
  });

  it("are resolved against the first base element", () => {
    const { scriptSrc, stylesheets } =
      read(`<base href="/app/"><base href="/other/"><script src="x.js"></script>
      <link rel="preload STYLESHEET" href="x.css"><link rel="icon" href="i.png"><link rel=stylesheet href="data:text/css,a">`);
    expect(scriptSrc).toEqual(["https://www.example.com/app/x.js"]);
    expect(stylesheets).toEqual(["https://www.example.com/app/x.css"]);
  });

  it("contain a limited number of addresses, so that a page cannot fill the memory", () => {
    const scripts = Array.from({ length: 3_000 }, (_, index) => `<script src="${index}.js"></script>`).join(
      "",
    );
    const { scriptSrc } = read(`<base href="/${"a".repeat(5_000)}/">${scripts}`);
    expect(scriptSrc).toHaveLength(1_000);
    expect(scriptSrc?.[999]).toBe("https://www.example.com/a/999.js");
  });

  it.each([
    [`dir/page?${"q=1&".repeat(1_000)}`, "https://www.example.com/dir/0.js"],
    [`${"a".repeat(5_000)}/page`, "https://www.example.com/0.js"],
  ])("are resolved against the beginning of a very long page address (%#)", (path, expected) => {
    const page = {
      html: '<script src="0.js"></script>',
      headers: new Headers(),
      url: `https://www.example.com/${path}`,
    };
    expect(signalsFromHtml(page).scriptSrc).toEqual([expected]);
  });

  it("contain inline scripts and styles unchanged, and text without them", () => {
    const signals = read(`<title>Title</title><style>a > b { }</style><body>One&nbsp;&lt;two&gt;
      <script>if (a < b && c > d) "<p>no</p>"</script><p>three</p><noscript>hidden</noscript><script> </script>`);
    expect(signals.inlineScripts).toEqual(['if (a < b && c > d) "<p>no</p>"']);
    expect(signals.css).toEqual(["a > b { }"]);
    expect(signals.text).toBe("One <two> three");
  });

  it("contain headers and cookies", () => {
    const signals = read("", [
      ["Server", "nginx"],
      ["Set-Cookie", "a=1; Path=/"],
      ["Set-Cookie", "B=x=y; HttpOnly"],
    ]);
    expect(signals.headers).toMatchObject({
      server: ["nginx"],
      "set-cookie": ["a=1; Path=/", "B=x=y; HttpOnly"],
    });
    expect(signals.cookies).toMatchObject({ a: ["1"], B: ["x=y"] });
    expect(Object.keys(parseCookieSignals(["=novalue", "noname", " spaced = v "]))).toEqual(["spaced"]);
  });

  it("can be read from a page with extremely deep nesting", () => {
    const signals = read(`${"<div>".repeat(300_000)}deep`);
    expect(signals.text).toBe("deep");
  });

  it("continue after elements that are nested more deeply than browsers allow", () => {
    const deep = `${"<div>".repeat(600)}<p>deep</p><script src="/deep.js"></script>${"</div>".repeat(600)}`;
    const signals = read(`${deep}<script>var late = 1;</script><p>end`);
    expect(signals.text).toBe("deep end");
    expect(signals.inlineScripts).toEqual(["var late = 1;"]);
    expect(signals.scriptSrc).toHaveLength(1);
  });
});

describe("selectors on parsed HTML", () => {
  const technologies = {
    Hidden: { cats: [], website: "", dom: "#app > .widget[data-kit]" },
    Linked: { cats: [], website: "", dom: ["link[href*='.Cdn.example/a&b']", "iframe[src^='x']"] },
    Texted: { cats: [], website: "", dom: { "p.maker": { text: "by Maker ([\\d.]+)\\;version:\\1" } } },
    Valued: {
      cats: [],
      website: "",
      dom: { "html[data-v]": { attributes: { "data-v": "^(\\d)$\\;version:\\1" } } },
    },
    Named: { cats: [], website: "", dom: "my-element" },
    Live: { cats: [], website: "", dom: { body: { properties: { __live: "" } } } },
    Strange: { cats: [], website: "", dom: ["a:unknown-pseudo", "p["] },
  };
  const detector = new TechnologyDetector(slimFingerprints(technologies, {}));
  const detect = (html: string) => {
    const signals = signalsFromHtml({ html, headers: new Headers(), url: "https://example.com/" }, detector);
    return detector.detect(signals).map(({ name, version }) => `${name} ${version}`.trim());
  };

  it("find elements, attributes and text", () => {
    expect(detect('<div id="app"><i class="x widget" data-kit></i></div>')).toEqual(["Hidden"]);
    expect(detect('<link href="https://1.Cdn.example/a&amp;b.css">')).toEqual(["Linked"]);
    expect(detect('<p class="maker">Made by Maker 4.2</p>')).toEqual(["Texted 4.2"]);
    expect(detect('<html data-v="7"></html>')).toEqual(["Valued 7"]);
    expect(detect("<my-element></my-element>")).toEqual(["Named"]);
  });

  it("are tried in order, within a time limit", () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    // Each goes from every element up to all that it is in.
    const many = Object.fromEntries(
      numbers.map((number) => [`No ${number}`, { cats: [], website: "", dom: `[data-x${number}] div` }]),
    );
    const first = { First: { cats: [], website: "", dom: "div" } };
    const last = { Last: { cats: [], website: "", dom: "br" } };
    const slow = new TechnologyDetector(slimFingerprints({ ...first, ...many, ...last }, {}));
    const html = `<br ${numbers.map((number) => `data-x${number}`).join(" ")}>${"<div>".repeat(100_000)}`;
    const found = (page: string) => {
      const signals = signalsFromHtml(
        { html: page, headers: new Headers(), url: "https://example.com/" },
        slow,
      );
      return signals.dom?.map(({ selector }) => selector);
    };
    // Of a page this deep a single selector is affordable; of an ordinary one, all.
    expect(found(html)).toEqual(["div"]);
    expect(found("<br><div></div>")).toEqual(["div", "br"]);
  });

  it("find nothing that does not exist", () => {
    expect(
      detect(
        '<div id="app"><b><i class="widget" data-kit></i></b></div><p class="maker">nobody</p><html data-v="77">',
      ),
    ).toEqual([]);
    expect(detect("<body><a>x</a></body>")).toEqual([]);
  });
});
