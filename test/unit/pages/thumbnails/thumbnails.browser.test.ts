import { expect, it } from "vitest";
import { DEVICE_NAMES, findDevice } from "../../../../src/pages/thumbnails/devices.ts";
import { describeWithBrowser } from "../../../support/browser.ts";
import { usePageService } from "../../../support/page-service.ts";
import {
  BLUE,
  colourAt,
  colourSampling,
  decode,
  expectColour,
  GREEN,
  html,
  isSimilarColour,
  RED,
  readPicture,
} from "../../../support/pages.ts";

const box = (colour: string, width: string, height: string) =>
  `<div style="background:${colour};width:${width};height:${height}"></div>`;

const pages: Readonly<Record<string, string>> = {
  // Three bands: what is seen tells how the page was cut.
  "/bands": box("red", "100%", "400px") + box("green", "100%", "800px") + box("blue", "100%", "1800px"),
  "/wide": box("blue", "3000px", "600px") + box("green", "100%", "600px"),
  "/short": box("green", "100%", "50px"),
  "/nodes": `<div id="target" style="width:240px;height:120px"></div><div id="hidden" style="display:none">x</div>
    <div id="tall" style="position:absolute;top:0;left:400px;width:100px;height:200px"></div>`,
  "/halves": `<div style="display:flex">${box("red", "50%", "1200px")}${box("blue", "50%", "1200px")}</div>`,
};

describeWithBrowser("the size and the screen of a thumbnail", () => {
  const userAgents: string[] = [];
  const service = usePageService((request, response, { pathname, searchParams }) => {
    if (pathname !== "/screen") return html(response, pages[pathname] ?? "");
    userAgents.push(request.headers["user-agent"] ?? "");
    const [width, height, density, touch] = (searchParams.get("is") ?? "").split(",");
    const test = `innerWidth == ${width} && innerHeight == ${height} && devicePixelRatio == ${density} && ("ontouchstart" in window) == ${touch}`;
    return html(
      response,
      `<div id=says style="position:fixed;inset:0"></div><script>says.style.background = ${test} ? "green" : "red"</script>`,
      '<meta name="viewport" content="width=device-width,initial-scale=1">',
    );
  });

  const thumbs = (path: string, query: Readonly<Record<string, string>>) =>
    service.ask("thumbs", path, query);

  const picture = async (path: string, query: Readonly<Record<string, string>>) =>
    readPicture(await thumbs(path, query));

  it.each([
    ["t", 90, 68],
    ["s", 120, 90],
    ["m", 200, 150],
    ["l", 400, 300],
    ["x", 480, 360],
    ["og", 1200, 630],
    ["o", 1200, 1200],
    ["333x111", 333, 111],
    ["50x400", 50, 400],
  ])("gives size %s as %d by %d pixels", async (size, width, height) => {
    expect(await picture("/bands", { size, format: "png" })).toMatchObject({ format: "png", width, height });
  });

  it.each([
    { size: "og", mobile: "true" },
    { size: "og", device: "laptopwithtouch" },
    { size: "1333x777" },
    { size: "91x1000", format: "jpg", quality: "60" },
  ])("has no pixel more or less with %j", async (query) => {
    const [width, height] = query.size === "og" ? [1200, 630] : query.size.split("x").map(Number);
    const response = await thumbs("/bands", { format: "png", ...query });
    const { headers } = response;
    expect([headers.get("x-image-width"), headers.get("x-image-height")]).toEqual([`${width}`, `${height}`]);
    expect(await decode(await response.arrayBuffer())).toMatchObject({ width, height });
  });

  it.each([
    ["/bands", { full: "1", size: "o" }, 1200, 3000],
    ["/bands", { full: "1", height: "300" }, 320, 300],
    ["/wide", { full: "1" }, 320, 128],
    ["/short", { full: "1", size: "o" }, 1200, 1200],
    ["/short", { full: "1", size: "o", mobile: "true" }, 824, 1464],
    ["/nodes", { selector: "#hidden, #target" }, 320, 160],
    ["/nodes", { selector: "#tall", size: "l" }, 150, 300],
    ["/nodes", { selector: "#tall", width: "60" }, 60, 120],
  ])("gives %s with %j as %d by %d pixels", async (path, query, width, height) => {
    expect(await picture(path, { format: "png", ...query })).toMatchObject({ width, height });
  });

  it("shows nothing but the page on a phone, to its last row", async () => {
    const all = await picture("/bands", { mobile: "true", full: "true", size: "o", format: "png" });
    expect(colourAt(all, 400, all.height - 1)).toEqual(BLUE);
  });

  it("lets width and height go before size", async () => {
    expect(await picture("/bands", { size: "l", width: "100" })).toMatchObject({ width: 100, height: 300 });
    expect(await picture("/bands", { width: "500", height: "77" })).toMatchObject({ width: 500, height: 77 });
    expect(await picture("/bands", { width: "640" })).toMatchObject({ width: 640, height: 240 });
  });

  it("cuts a narrow image out of the middle", async () => {
    const image = await picture("/halves", { size: "100x400", format: "png" });
    expectColour(image, 20, 200, RED);
    expectColour(image, 80, 200, BLUE);
  });

  it("draws an image that is larger than the page's viewport", async () => {
    const image = await picture("/halves", { size: "2000x1000", format: "png" });
    expect(image).toMatchObject({ width: 2000, height: 1000 });
    expectColour(image, 990, 500, RED);
    expectColour(image, 1010, 500, BLUE);
  });

  it("makes smaller files of lower quality, and samples colours fully from 90 on", async () => {
    const sizes: number[] = [];
    for (const [quality, sampling] of [
      ["10", "4:2:0"],
      ["89", "4:2:0"],
      ["90", "4:4:4"],
      ["100", "4:4:4"],
    ] as const) {
      for (const size of ["l", "og"]) {
        const bytes = await (await thumbs("/bands", { quality, size })).arrayBuffer();
        expect(colourSampling(bytes)).toBe(sampling);
        if (size === "l") sizes.push(bytes.byteLength);
      }
    }
    expect(sizes[0]).toBeLessThan(sizes[3] ?? 0);
  });

  it("takes pictures as each kind of device, with its screen and user agent", async () => {
    // One device of each density, with and without touch. A unit test reads all 29 names.
    const kinds = Map.groupBy(DEVICE_NAMES, (name) => {
      const device = findDevice(name);
      return `${device?.deviceScaleFactor} ${device?.touch}`;
    });
    expect(kinds.size).toBeGreaterThan(5);
    const results = await Promise.all(
      [...kinds.values()].map(async ([name = ""]) => {
        const device = findDevice(name);
        const is = [device?.width, device?.height, device?.deviceScaleFactor, device?.touch].join();
        const image = await picture(`/screen?is=${is}`, { device: name, size: "o", format: "png" });
        return { name, image, device };
      }),
    );
    for (const { name, image, device } of results) {
      // The pixels of the device, of which there may be several for one of the page.
      const density = device?.deviceScaleFactor ?? 0;
      expect([name, image.width]).toEqual([name, Math.round((device?.width ?? 0) * density)]);
      expect(Math.abs(image.height - (device?.height ?? 0) * density)).toBeLessThanOrEqual(1);
      expect([name, isSimilarColour(colourAt(image, image.width / 2, image.height / 2), GREEN)]).toEqual([
        name,
        true,
      ]);
      const agent = device?.userAgent?.split("%s")[0] ?? "Mozilla/5.0 (X11; Linux";
      expect([name, userAgents.some((seen) => seen.startsWith(agent) && !seen.includes("%s"))]).toEqual([
        name,
        true,
      ]);
    }
    expect(userAgents.join()).not.toContain("Headless");
  });

  it("takes the viewport in one parameter or two", async () => {
    expect(await picture("/bands", { viewport: "800x600", size: "o" })).toMatchObject({
      width: 800,
      height: 600,
    });
    expect(await picture("/bands", { viewportWidth: "1600", viewportHeight: "10", size: "o" })).toMatchObject(
      { width: 1600, height: 10 },
    );
    expect(await picture("/bands", { device: "iphone5", viewportWidth: "500", size: "o" })).toMatchObject({
      width: 1000,
      height: 1136,
    });
  });
});
