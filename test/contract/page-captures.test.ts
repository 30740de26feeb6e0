import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import {
  BLUE,
  decode,
  expectColour,
  GREEN,
  html,
  RED,
  readPicture,
  useSite,
  WHITE,
} from "../support/pages.ts";

const PAGES: Readonly<Record<string, string>> = {
  "/boxes": `<div id=a style="position:absolute;left:100px;top:1500px;width:60px;height:40px;background:red"></div>
    <div id=b style="position:absolute;left:300px;top:1600px;width:40px;height:20px;background:blue"></div>
    <div style="height:3000px"></div>`,
  "/parts": `<header style="position:fixed;top:0;left:0;right:0;height:40px;background:blue"></header>
    <div style="height:2000px;background:red"></div><h2 id=part style="margin:0;height:2000px;background:green">part</h2>`,
  "/scrolled": `<body style="margin:0;scroll-behavior:smooth"><div style="height:2000px;background:red"></div><div style="height:2000px;background:green"></div>
    <script>onload = () => setTimeout(() => scrollTo(0, 2000), 500)</script>`,
  "/app": `<main style="position:fixed;inset:0;overflow-y:auto"><div style="height:1200px;background:red"></div><div style="height:1800px;background:green"></div></main>`,
  "/media": `<style>body { background: red } @media (prefers-reduced-motion: reduce) { body { background: green } } @media print { body { background: blue } }</style>`,
  "/sheets": `<h1>One</h1>${'<div style="break-after:page">x</div>'.repeat(3)}<h2>Last</h2>`,
};

/** The frames of an animated WebP as still images (RFC 9649). */
function framesOf(animation: Buffer): ArrayBuffer[] {
  const frames: ArrayBuffer[] = [];
  for (let at = 12; at < animation.length; ) {
    const length = animation.readUInt32LE(at + 4);
    if (animation.toString("latin1", at, at + 4) === "ANMF") {
      const chunks = animation.subarray(at + 24, at + 8 + length);
      const head = Buffer.from("RIFF    WEBP");
      head.writeUInt32LE(chunks.length + 4, 4);
      frames.push(new Uint8Array(Buffer.concat([head, chunks])).buffer);
    }
    at += 8 + length + (length % 2);
  }
  return frames;
}

describeWithBrowser("a capture of a page", () => {
  const pages = useSite((_, response, { pathname }) => html(response, PAGES[pathname] ?? ""));

  const thumbs = (path: string, query: readonly (readonly [string, string])[]) =>
    pages.gateway.fetch(
      `/v1/thumbs?${new URLSearchParams([["url", pages.origin + path], ...query].map(([name = "", value = ""]) => [name, value]))}`,
    );
  const picture = async (path: string, query: readonly (readonly [string, string])[]) =>
    readPicture(await thumbs(path, [["format", "png"], ...query]));
  async function pdf(
    query: readonly (readonly [string, string])[],
  ): Promise<{ sheets: string | null; text: string }> {
    const response = await thumbs("/sheets", [["format", "pdf"], ...query]);
    const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    return { sheets: response.headers.get("x-page-sheets"), text };
  }

  it("is one image around several elements, with padding", async () => {
    const image = await picture("/boxes", [
      ["selector", "#a"],
      ["selectors", "#b"],
      ["padding", "10"],
      ["size", "o"],
    ]);
    expect(image).toMatchObject({ width: 260, height: 140 });
    expectColour(image, 5, 5, WHITE);
    expectColour(image, 12, 12, RED);
    expectColour(image, 248, 128, BLUE);
    expectColour(image, 150, 50, WHITE);
    const missing = await thumbs("/boxes", [
      ["selectors", "#a"],
      ["selectors", "#nothing"],
    ]);
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining('"selectors"')]);
  });

  it("begins at an element, below what is fixed at the top", async () => {
    const image = await picture("/parts", [
      ["scrollTo", "#part"],
      ["size", "o"],
    ]);
    expect(image).toMatchObject({ width: 1200, height: 1200 });
    expectColour(image, 600, 20, BLUE);
    expectColour(image, 600, 100, GREEN);
    expectColour(image, 600, 1100, GREEN);
    expectColour(await picture("/parts", [["size", "o"]]), 600, 100, RED);
  });

  it("begins at the top of a page that scrolls itself", async () => {
    const image = await picture("/scrolled", [
      ["delay", "1"],
      ["size", "o"],
    ]);
    expectColour(image, 600, 100, RED);
    expectColour(image, 600, 1100, RED);
  });

  it("shows a scroll area in its full height on request", async () => {
    const image = await picture("/app", [
      ["full", "true"],
      ["detectFullHeight", "true"],
      ["size", "o"],
    ]);
    expect(image).toMatchObject({ width: 1200, height: 3000 });
    expectColour(image, 600, 2900, GREEN);
    expect(
      await picture("/app", [
        ["full", "true"],
        ["size", "o"],
      ]),
    ).toMatchObject({ height: 1200 });
  });

  it("follows a preference for little motion, and the media type", async () => {
    expectColour(await picture("/media", [["reducedMotion", "true"]]), 100, 100, GREEN);
    expectColour(await picture("/media", [["media", "print"]]), 100, 100, BLUE);
    expectColour(await picture("/media", []), 100, 100, RED);
  });

  it("is an animation that scrolls from the top to the end", async () => {
    const response = await thumbs("/parts", [
      ["scenario", "scroll"],
      ["format", "webp"],
      ["size", "m"],
    ]);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/webp"]);
    const frames = framesOf(bytes);
    expect(frames.length).toBeGreaterThan(10);
    const [first, last] = await Promise.all(
      [frames[0], frames.at(-1)].map((frame) => decode(frame ?? new ArrayBuffer(0))),
    );
    if (first === undefined || last === undefined) throw new Error("There are no frames.");
    expect([first, last]).toMatchObject([
      { width: 200, height: 150 },
      { width: 200, height: 150 },
    ]);
    expectColour(first, 100, 100, RED);
    expectColour(last, 100, 100, GREEN);
    // What is fixed at the top stays.
    expectColour(last, 100, 3, BLUE);
  });

  it("is some sheets of a PDF, with header, footer and outline", async () => {
    expect((await pdf([])).sheets).toBe("4");
    expect((await pdf([["pageRanges", "2-3"]])).sheets).toBe("2");
    const plain = await pdf([["pageRanges", "1"]]);
    const full = await pdf([
      ["pageRanges", "1"],
      ["header", "{title} | {page} of {pages}"],
      ["footer", "confidential"],
      ["outline", "true"],
    ]);
    expect(plain.text).not.toContain("/Outlines");
    expect(full.text).toContain("/Outlines");
    expect(full.text.length).toBeGreaterThan(plain.text.length);
    const beyond = await thumbs("/sheets", [
      ["format", "pdf"],
      ["pageRanges", "9"],
    ]);
    expect([beyond.status, await beyond.text()]).toEqual([400, expect.stringContaining('"pageRanges"')]);
  });

  it.each([
    [[["padding", "5"]], "padding"],
    [[["header", "x"]], "header"],
    [[["outline", "true"]], "outline"],
    [
      [
        ["format", "pdf"],
        ["scrollTo", "#a"],
      ],
      "scrollTo",
    ],
    [
      [
        ["format", "pdf"],
        ["selectors", "#a"],
      ],
      "selectors",
    ],
    [[["media", "tv"]], "media"],
    [[["scenario", "scroll"]], "scenario"],
    [
      [
        ["scenario", "scroll"],
        ["format", "webp"],
        ["full", "true"],
      ],
      "scenario",
    ],
  ] as const)("refuses %j", async (query, param) => {
    const response = await thumbs("/boxes", query);
    const { error } = JSON.parse(await response.text());
    expect([response.status, error.param]).toEqual([400, param]);
  });
});
