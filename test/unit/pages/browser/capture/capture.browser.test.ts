import { expect, it } from "vitest";
import { describeWithBrowser } from "../../../../support/browser.ts";
import { usePageService } from "../../../../support/page-service.ts";
import { BLUE, expectColour, GREEN, html, RED, readPicture, WHITE } from "../../../../support/pages.ts";

const box = (colour: string, height: string, extra = "") =>
  `<div style="background:${colour};height:${height}" ${extra}></div>`;

const PAGES: Readonly<Record<string, string>> = {
  "/boxes": `<div id=a style="position:absolute;left:100px;top:1500px;width:60px;height:40px;background:red"></div>
    <div id=b style="position:absolute;left:300px;top:1600px;width:40px;height:20px;background:blue"></div>
    <div id=none style="display:none">x</div><div style="height:3000px"></div>`,
  "/parts": `<header style="position:fixed;top:0;left:0;right:0;height:40px;background:blue"></header>
    ${box("red", "2000px")}${box("green", "2000px", "id=part")}`,
  "/covered": `${box("blue", "3000px")}<div class=cover style="position:fixed;inset:0;background:red"></div>`,
  "/app": `<main style="position:fixed;inset:0;overflow-y:auto">${box("red", "1200px")}${box("green", "1800px")}</main>`,
  "/media": `<style>body{background:red}@media (prefers-color-scheme:dark){body{background:blue}}
    @media (prefers-reduced-motion:reduce){body{background:green}}@media print{body{background:white}}</style>`,
  "/sheets": `<h1>One</h1>${'<div style="break-after:page">x</div>'.repeat(3)}<h2>Last</h2>`,
  "/clicked": `<button style="display:none">no</button><button style="height:50px" onclick="if (event.isTrusted) location = '/clicked-on'">go</button>`,
  "/clicked-on": box("green", "1200px"),
  "/lazy": `<div style="height:5000px"></div><img loading=lazy src="/square.svg" style="display:block">`,
  "/banner": `${box("green", "1200px")}<div id=onetrust-banner-sdk style="position:fixed;inset:0;background:red"></div>`,
  "/short": box("green", "50px"),
  "/wide": `<div style="width:17000px;height:300px;background:green"></div>`,
  "/tall": box("green", "50000px"),
  "/dialogs": `${box("green", "1200px")}<script>alert(1); confirm(2); onbeforeunload = () => 'stay'; open("/short")</script>`,
};
const SQUARE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400" fill="green"/></svg>';

describeWithBrowser("a capture", () => {
  const { ask } = usePageService(
    (_, response, { pathname }) => {
      if (pathname !== "/square.svg") return html(response, PAGES[pathname] ?? "");
      response.setHeader("content-type", "image/svg+xml");
      return response.end(SQUARE);
    },
    { PAGE_NAVIGATION_TIMEOUT_MS: "4000" },
  );

  type Query = Readonly<Record<string, string>>;
  const thumbs = (path: string, query: Query) => ask("thumbs", path, query);

  /** A row: the page, the query, the size of the picture, and colours at some of its places. */
  type Row = readonly [
    what: string,
    path: string,
    query: Query,
    size: readonly [number, number],
    colours: readonly (readonly [x: number, y: number, colour: readonly number[]])[],
  ];
  const rows: readonly Row[] = [
    [
      "several elements with padding",
      "/boxes",
      { selector: "#a", selectors: "#b", padding: "10" },
      [260, 140],
      [
        [5, 5, WHITE],
        [12, 12, RED],
        [248, 128, BLUE],
      ],
    ],
    [
      "an element that begins below what is fixed",
      "/parts",
      { scrollTo: "#part" },
      [1200, 1200],
      [
        [600, 20, BLUE],
        [600, 100, GREEN],
        [600, 1100, GREEN],
      ],
    ],
    ["the top of an address with a fragment", "/parts#part", {}, [1200, 1200], [[600, 1100, RED]]],
    [
      "a part of a page without what is hidden",
      "/covered",
      { clip: "100,2000,300,200", hide: ".cover", scale: "1.5" },
      [450, 300],
      [[225, 150, BLUE]],
    ],
    [
      "a scroll area in its full height",
      "/app",
      { full: "true", detectFullHeight: "true" },
      [1200, 3000],
      [[600, 2900, GREEN]],
    ],
    ["a page that its own scroll area fills", "/app", { full: "true" }, [1200, 1200], []],
    ["a page that is lower than the viewport", "/short", { full: "true" }, [1200, 1200], []],
    ["a dark page", "/media", { darkMode: "true" }, [1200, 1200], [[9, 9, BLUE]]],
    ["a page with little motion", "/media", { reducedMotion: "true" }, [1200, 1200], [[9, 9, GREEN]]],
    ["a page as for a printer", "/media", { media: "print" }, [1200, 1200], [[9, 9, WHITE]]],
    ["a page that was clicked through", "/clicked", { click: "button" }, [1200, 1200], [[9, 9, GREEN]]],
    [
      "all of a page that loads when it is seen",
      "/lazy",
      { full: "true" },
      [1200, 5400],
      [[200, 5200, GREEN]],
    ],
    ["a page without its banner", "/banner", { blockCookieBanners: "true" }, [1200, 1200], [[9, 9, GREEN]]],
    ["a page with dialogs", "/dialogs", {}, [1200, 1200], [[9, 9, GREEN]]],
  ];

  it.each(rows)("shows %s", async (_, path, query, [width, height], colours) => {
    const image = await readPicture(await thumbs(path, { size: "o", format: "png", ...query }));
    expect(image).toMatchObject({ width, height });
    for (const [x, y, colour] of colours) expectColour(image, x, y, colour);
  });

  it.each([
    ["/tall", { full: "true" }, "x-page-cut-at", "20000"],
    ["/tall", { full: "true", size: "o", viewportWidth: "400" }, "x-page-cut-at", "16383"],
    ["/wide", { full: "true" }, "x-page-cut-at-width", "16383"],
    ["/tall", { format: "pdf", paper: "a6", landscape: "true" }, "x-page-cut-at-sheet", "100"],
  ])("states where it was cut: %s with %j", async (path, query, header, expected) => {
    const response = await thumbs(path, query);
    expect([response.status, response.headers.get(header)]).toEqual([200, expected]);
    await response.arrayBuffer();
  });

  it.each([
    ["/boxes", { selector: "#nothing" }, 404, "selector"],
    ["/boxes", { selector: "#none" }, 404, "selector"],
    ["/boxes", { selector: "#a", selectors: "#nothing" }, 404, "selectors"],
    ["/boxes", { selector: "##" }, 400, "selector"],
    ["/boxes", { click: "#nothing" }, 404, "click"],
    ["/boxes", { scrollTo: "#none" }, 404, "scrollTo"],
    ["/boxes", { waitForSelector: "##" }, 400, "waitForSelector"],
    ["/boxes", { hide: "a{color:red}/*" }, 400, "hide"],
    ["/short", { clip: "0,3000,10,10" }, 400, "clip"],
    ["/sheets", { format: "pdf", pageRanges: "9" }, 400, "pageRanges"],
  ])("of %s with %j is refused with the name of the parameter", async (path, query, status, param) => {
    const response = await thumbs(path, query);
    expect([response.status, JSON.parse(await response.text()).error.param]).toEqual([status, param]);
  });

  it("may contain only some sheets of a PDF, with header, footer and outline", async () => {
    const pdf = async (query: Query) => {
      const response = await thumbs("/sheets", { format: "pdf", ...query });
      const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
      return { sheets: response.headers.get("x-page-sheets"), text };
    };
    const asked = { pageRanges: "1", header: "{title} | {page}", footer: "confidential", outline: "true" };
    const [whole, two, plain, full] = await Promise.all([
      pdf({}),
      pdf({ pageRanges: "2-3" }),
      pdf({ pageRanges: "1" }),
      pdf(asked),
    ]);
    expect([whole.sheets, two.sheets, plain.sheets]).toEqual(["4", "2", "1"]);
    expect([plain.text.includes("/Outlines"), full.text.includes("/Outlines")]).toEqual([false, true]);
    expect(full.text.length).toBeGreaterThan(plain.text.length);
  });

  it("may be an animation that scrolls", async () => {
    const query = { scenario: "scroll", format: "webp", size: "s" };
    const response = await thumbs("/parts", query);
    const bytes = Buffer.from(await response.arrayBuffer());
    const [width, height] = [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    expect([response.status, bytes.toString("latin1", 12, 16), width, height]).toEqual([
      200,
      "VP8X",
      120,
      90,
    ]);
    expect(bytes.toString("latin1").split("ANMF").length - 1).toBeGreaterThan(10);
  });
});
