import { expect, it } from "vitest";
import { describeWithBrowser } from "../../../../support/browser.ts";
import { usePageService } from "../../../../support/page-service.ts";
import { colourAt, GREEN, html, isSimilarColour, readPicture, WHITE } from "../../../../support/pages.ts";

const BOX = '<div id="box" style="height:600px;background:green"></div>';
const FADE =
  "<style>@keyframes fade { from { opacity: 0 } } @keyframes spin { to { margin-left: 1200px } }</style>";
const PAGES: Readonly<Record<string, string>> = {
  "/late": `<main></main><script>onload = () => fetch("/slow" + location.search).then((r) => r.text()).then((text) => { document.querySelector("main").innerHTML = text; })</script>`,
  "/chain": `<main></main><script>onload = () => fetch("/slow" + location.search).then(() => fetch("/slow")).then((r) => r.text()).then((text) => { document.querySelector("main").innerHTML = text; })</script>`,
  "/fade": `${FADE}<div style="animation:fade 5s">${BOX}</div>`,
  "/transition": `<div id="outer" style="opacity:0;transition:opacity 5s">${BOX}</div><script>onload = () => { document.querySelector("#outer").style.opacity = 1; }</script>`,
  "/shadow": `<div id="host"></div><script>host.attachShadow({ mode: "open" }).innerHTML = \`${FADE}<div style="animation:fade 5s">${BOX}</div>\`</script>`,
  "/endless": `${FADE}<div style="animation:spin 1s linear infinite">${BOX}</div>`,
  "/scripted": `<div id="outer" style="opacity:0">${BOX}</div><script>const start = performance.now(); const draw = () => { const o = Math.min(1, (performance.now() - start) / 900); outer.style.opacity = o; if (o < 1) requestAnimationFrame(draw); }; draw();</script>`,
  "/polls": `${BOX}<script>const poll = () => fetch("/silent").then(poll); onload = poll</script>`,
  "/timer": `<main></main><script>setTimeout(() => { document.querySelector("main").innerHTML = '<meta name="description" content="Late"><p>It is  here</p>'; }, 3000)</script>`,
};

describeWithBrowser("the moment at which a page is read", () => {
  const { ask } = usePageService(
    (_, response, { pathname, searchParams }) => {
      if (pathname === "/silent") return undefined;
      if (pathname === "/slow") {
        return setTimeout(
          () => response.end(`<meta name="description" content="Late">${BOX}`),
          Number(searchParams.get("ms") ?? 700),
        );
      }
      return html(response, PAGES[pathname] ?? BOX);
    },
    { PAGE_NAVIGATION_TIMEOUT_MS: "6000" },
  );
  let shots = 0;
  /** A new picture, also when a test is tried again: no answer comes from the cache. */
  const shot = async (path: string, query: Record<string, string> = {}, slowMs = 700) => {
    shots += 1;
    const response = await ask("thumbs", `${path}?ms=${slowMs}&shot=${shots}`, { format: "png", ...query });
    const spent = /prepare;dur=(\d+)/.exec(response.headers.get("server-timing") ?? "")?.[1];
    const image = await readPicture(response);
    return { colour: colourAt(image, 10, 40), prepareMs: Number(spent) };
  };

  it.each([
    ["/chain", "networkidle0"],
    ["/polls", "networkidle2"],
  ])("is when few requests are unanswered, on request: %s, %s", async (path, waitUntil) => {
    const { colour, prepareMs } = await shot(path, { waitUntil, settle: "0" });
    expect([isSimilarColour(colour, GREEN), prepareMs < 4_000]).toEqual([true, true]);
  });

  it.each(["/late", "/chain", "/fade", "/transition", "/shadow", "/endless", "/scripted"])(
    "is when requests are answered and finite animations have ended: %s",
    async (path) => {
      const settled = await shot(path);
      expect(isSimilarColour(settled.colour, GREEN), JSON.stringify(settled)).toBe(true);
      expect(settled.prepareMs).toBeLessThan(4_000);
      // At once: long before the answer comes, also where a picture takes seconds.
      const { colour } = await shot(path, { settle: "0" }, 20_000);
      // The script of this page ends by itself: on a slow machine before the first picture.
      if (path !== "/endless" && path !== "/scripted")
        expect(isSimilarColour(colour, GREEN), JSON.stringify(colour)).toBe(false);
    },
  );

  it("is immediate for a still page, and bounded for a page that never becomes still", async () => {
    await shot("/still");
    const times = [await shot("/still"), await shot("/still"), await shot("/still")];
    // The bound is 100 ms on a quiet machine. A busy one needs longer, but far less than the settling.
    expect(Math.min(...times.map(({ prepareMs }) => prepareMs))).toBeLessThanOrEqual(400);
    const polling = await shot("/polls", { settle: "0.5" });
    expect(polling.prepareMs).toBeGreaterThanOrEqual(500);
    expect(polling.prepareMs).toBeLessThan(2_000);
  });

  it("is the same for metadata, and follows the caller's options", async () => {
    const description = async (path: string, query: Record<string, string> = {}) => {
      const response = await ask("metadata", path, query);
      expect(response.status).toBe(200);
      return JSON.parse(await response.text()).description;
    };
    const asked = [
      ["/late", {}, "Late"],
      ["/timer", {}, null],
      ["/timer", { delay: "4" }, "Late"],
      ["/timer", { waitForSelector: "main p" }, "Late"],
      ["/timer", { waitForText: "It is here" }, "Late"],
      ["/late", { waitUntil: "domcontentloaded" }, null],
    ] as const;
    const descriptions = await Promise.all(asked.map(([path, query]) => description(path, query)));
    expect(descriptions).toEqual(asked.map(([, , expected]) => expected));
    expect(isSimilarColour((await shot("/timer", { waitForText: "is here" })).colour, WHITE)).toBe(true);
  });

  it("is never reached without the awaited text, which is a 404", async () => {
    const response = await ask("technologies", "/still", { waitForText: "never" });
    expect(response.status).toBe(404);
    expect(JSON.parse(await response.text()).error).toMatchObject({
      code: "selector_not_found",
      param: "waitForText",
    });
  });

  it.each([
    ["settle", "11"],
    ["settle", "x"],
    ["delay", "11"],
    ["waitUntil", "never"],
  ])("cannot be %s=%s for any operation", async (name, value) => {
    for (const operation of ["thumbs", "metadata", "technologies"]) {
      const response = await ask(operation, "/still", { [name]: value });
      expect([response.status, JSON.parse(await response.text()).error.param]).toEqual([400, name]);
    }
  });
});
