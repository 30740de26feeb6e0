import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { DEVICE_NAMES, findDevice } from "../../../../src/pages/thumbnails/devices.ts";
import { readThumbnailRequest } from "../../../../src/pages/thumbnails/thumbnail-parameters.ts";
import { PLAIN_SETUP } from "../../../support/page-browser.ts";

const safety = { privateHosts: new Set<string>() };
const read = (query: Record<string, string> = {}) =>
  readThumbnailRequest(new URLSearchParams({ url: "example.com", ...query }), safety);

describe("the parameters of a thumbnail", () => {
  it("have the defaults of the contract", () => {
    expect(read()).toEqual({
      options: {
        url: "http://example.com/",
        setup: PLAIN_SETUP,
        sheet: null,
        format: "jpeg",
        quality: 100,
        full: false,
        scenario: null,
        frame: { width: 320, height: 240, fit: "cover" },
        screen: { width: 1200, height: 1200, deviceScaleFactor: 1, mobile: false, touch: false },
        userAgent: null,
        selectors: [],
        padding: 0,
        scrollTo: null,
        detectFullHeight: false,
        clip: null,
        hide: [],
        click: [],
        waitForSelector: null,
        waitForText: null,
        settle: 2,
        scroll: false,
        delay: 0,
        waitUntil: "load",
        darkMode: false,
        reducedMotion: false,
        media: null,
        transparent: false,
        timezone: null,
        locale: null,
        blockAds: false,
        blockCookieBanners: false,
      },
      setup: PLAIN_SETUP,
      output: "raw",
      prettify: false,
      freshness: { maxAge: 86_400, staleFor: 86_400 },
    });
  });

  it.each([
    [{ maxAge: "60" }, 60, 0],
    [{ maxAge: "60", staleWhileRevalidate: "30" }, 60, 30],
    [{ staleWhileRevalidate: "0" }, 86_400, 0],
  ])("set how old a cached image may be with %j", (query, maxAge, staleFor) => {
    expect(read(query).freshness).toEqual({ maxAge, staleFor });
  });

  it("have other defaults for phones", () => {
    const { frame, screen, userAgent } = read({ mobile: "true" }).options;
    expect(frame).toEqual({ width: 320, height: 568, fit: "cover" });
    expect(screen).toMatchObject({ width: 412, height: 732, mobile: true, touch: true });
    expect(userAgent).toContain("Mobile");
  });

  it.each(["true", "TRUE", "1", "yes", "on", ""])("may be true as %j", (value) => {
    expect(read({ full: value }).options.full).toBe(true);
  });

  it.each(["false", "False", "0", "no", "off"])("may be false as %j", (value) => {
    expect(read({ full: value }).options.full).toBe(false);
  });

  it("ignore the case of values", () => {
    const { options, output } = read({
      format: "PNG",
      size: "OG",
      device: "iPhone6",
      output: "JSON",
      waitUntil: "NetworkIdle0",
    });
    expect(options).toMatchObject({
      format: "png",
      frame: { width: 1200, height: 630, fit: "cover" },
      waitUntil: "networkidle0",
    });
    expect(options.screen).toMatchObject({ width: 375, height: 667, deviceScaleFactor: 2 });
    expect(output).toBe("json");
  });

  it.each([
    // A page has the width exactly, and its own height unless one is given in numbers.
    [{ full: "1" }, 320, null, "cover"],
    [{ full: "1", size: "l" }, 400, null, "cover"],
    [{ full: "1", size: "400x500" }, 400, 500, "cover"],
    [{ full: "1", height: "99" }, 320, 99, "cover"],
    [{ full: "1", size: "o" }, null, null, "cover"],
    // An element is fitted into a size.
    [{ selector: "h1" }, 320, 240, "contain"],
    [{ selector: "h1", size: "l", full: "1" }, 400, 300, "contain"],
    [{ selector: "h1", size: "400x500" }, 400, 500, "contain"],
    [{ selector: "h1", size: "o" }, null, null, "contain"],
    [{ selector: "h1", width: "99" }, 99, null, "cover"],
    [{ selector: "h1", height: "99" }, null, 99, "cover"],
    [{ selector: "h1", width: "99", height: "98" }, 99, 98, "cover"],
    [{ clip: "1,2,30,40" }, null, null, "contain"],
    [{ clip: "1,2,30,40", size: "l", full: "1" }, 400, 300, "contain"],
    [{ clip: "1,2,30,40", height: "99" }, null, 99, "cover"],
    // Each pixel of a size becomes several.
    [{ scale: "2" }, 640, 480, "cover"],
    [{ scale: "1.5", size: "t" }, 135, 102, "cover"],
    [{ scale: "3", full: "1" }, 960, null, "cover"],
    [{ scale: "2", size: "o" }, null, null, "cover"],
    [{ scale: "2", selector: "h1", width: "99" }, 198, null, "cover"],
  ])("set the size with %j", (query, width, height, fit) => {
    expect(read(query).options.frame).toEqual({ width, height, fit });
  });

  it("set the scale of the screen", () => {
    expect(read({ scale: "2" }).options.screen.deviceScaleFactor).toBe(2);
    expect(read({ scale: "1", device: "iphone6plus" }).options.screen.deviceScaleFactor).toBe(1);
    expect(read({ scale: "2.25", mobile: "1" }).options.screen.deviceScaleFactor).toBe(2.25);
  });

  it.each([
    [{ scale: "2", width: "16383", height: "10" }, "page_too_large"],
    [{ scale: "2", size: "5000x4000" }, "page_too_large"],
    [{ scale: "3.5" }, "invalid_request"],
    [{ scale: "0" }, "invalid_request"],
    [{ scale: "1.234" }, "invalid_request"],
    [{ scale: "2x" }, "invalid_request"],
  ])("are refused with the scale of %j", (query, code) => {
    expect(refusal(query)).toMatchObject({ status: 400, param: "scale", code });
  });

  it("select a clip of the page", () => {
    expect(read({ clip: "0, 600, 800, 400" }).options.clip).toEqual({
      x: 0,
      y: 600,
      width: 800,
      height: 400,
    });
  });

  it.each([
    "1,2,3",
    "1,2,3,4,5",
    "-1,0,10,10",
    "0,0,0,10",
    "0,0,10,16384",
    "0,20001,1,1",
    "1.5,0,1,1",
    "a,b,c,d",
    "0,0,16000,16000",
  ])("are refused with the clip %s", (clip) => {
    expect(refusal({ clip })).toMatchObject({ status: 400, param: "clip" });
  });

  it("select only one part of the page", () => {
    expect(refusal({ clip: "0,0,1,1", selector: "h1" })).toMatchObject({ status: 400, param: "clip" });
  });

  it("may have several selectors to hide and to click", () => {
    const options = (query: string) =>
      readThumbnailRequest(new URLSearchParams(`url=example.com&${query}`), safety).options;
    expect(options("hide=.b,i&hide=.a&hide=.a").hide).toEqual([".a", ".b,i"]);
    expect(options("click=.b&click=.a&click=.b").click).toEqual([".b", ".a", ".b"]);
    expect(() => options("click=a&".repeat(6))).toThrow("at most 5 times");
    expect(() => options("hide=a&".repeat(11))).toThrow("at most 10 times");
    expect(refusal({ hide: "a".repeat(1_001) })).toMatchObject({ status: 400, param: "hide" });
    expect(refusal({ waitForSelector: "a\u0000" })).toMatchObject({ status: 400, param: "waitForSelector" });
  });

  it.each(["selector", "quality", "format", "size", "device", "hide", "click", "margins", "delay", "maxAge"])(
    "are refused with an empty %s",
    (name) => {
      expect(refusal({ [name]: " " })).toMatchObject({ status: 400, param: name });
    },
  );

  it("scroll through whole pages, unless the caller disables this", () => {
    expect(read({ full: "1" }).options.scroll).toBe(true);
    expect(read({ full: "1", scroll: "no" }).options.scroll).toBe(false);
    expect(read({ scroll: "1" }).options.scroll).toBe(true);
  });

  it("allow transparency in formats that support it", () => {
    expect(read({ transparent: "1", format: "webp" }).options.transparent).toBe(true);
    expect(read({ transparent: "false" }).options.transparent).toBe(false);
    for (const format of ["jpg", "jpeg"]) {
      expect(refusal({ transparent: "1", format })).toMatchObject({ status: 400, param: "transparent" });
    }
  });

  it("print on upright A4 with a margin of one centimetre by default", () => {
    const { sheet, full, scroll } = read({ format: "pdf", full: "true" }).options;
    expect(sheet).toMatchObject({
      width: 210 / 25.4,
      height: 297 / 25.4,
      margins: { top: 0.3937, right: 0.3937, bottom: 0.3937, left: 0.3937 },
    });
    // A PDF always has the whole page: both are one request.
    expect([full, scroll]).toEqual([false, true]);
  });

  it.each([
    ["0", [0, 0, 0, 0]],
    ["1in", [1, 1, 1, 1]],
    ["1in,25.4mm", [1, 1, 1, 1]],
    ["96px 0.5IN 0", [1, 0.5, 0, 0.5]],
    ["72pt,1cm,2cm,0.5in", [1, 0.3937, 0.7874, 0.5]],
  ])("set the margins %s", (margins, [top, right, bottom, left]) => {
    const { sheet } = read({ format: "pdf", paper: "Letter", landscape: "1", margins }).options;
    expect(sheet).toMatchObject({ width: 11, height: 8.5, margins: { top, right, bottom, left } });
  });

  it.each(["1,2,3,4,5", "10em", "-1mm", "1in;1in", "mm", "1", "1cm 20", "110mm", "0,0,300mm", "99999"])(
    "are refused with the margins %s",
    (margins) => {
      expect(refusal({ format: "pdf", margins })).toMatchObject({ status: 400, param: "margins" });
    },
  );

  it("are refused if they do not apply to an image or a PDF", () => {
    for (const name of ["size", "width", "height", "scale", "selector", "clip"]) {
      const value = { size: "l", clip: "0,0,1,1", selector: "a" }[name] ?? "2";
      expect(refusal({ format: "pdf", [name]: value })).toMatchObject({ status: 400, param: name });
    }
    expect(refusal({ format: "pdf", transparent: "1" })).toMatchObject({ status: 400, param: "transparent" });
    for (const query of [{ paper: "a3" }, { margins: "0" }, { landscape: "1" }]) {
      expect(refusal(query)).toMatchObject({ status: 400, param: Object.keys(query)[0] });
    }
    expect(refusal({ format: "pdf", paper: "a7" })).toMatchObject({ status: 400, param: "paper" });
    expect(read({ landscape: "false" }).options.sheet).toBeNull();
  });

  it("accept the usual spellings of time zones and languages", () => {
    expect(read({ timezone: "europe/berlin", locale: "DE-ch" }).options).toMatchObject({
      timezone: "Europe/Berlin",
      locale: "de-CH",
    });
    for (const timezone of ["+02:00", "Berlin", "Europe/Berlin;", "1"]) {
      expect(refusal({ timezone })).toMatchObject({ status: 400, param: "timezone" });
    }
    for (const locale of ["d", "de_CH_", "de-CH,fr", "x".repeat(36)]) {
      expect(refusal({ locale })).toMatchObject({ status: 400, param: "locale" });
    }
  });

  it("give the same request in all spellings, so that they share a cache entry", () => {
    const same = [
      { format: "png", hide: ".a", timezone: "utc", locale: "en-us" },
      { format: "PNG", quality: "7", hide: " .a ", timezone: "UTC", locale: "en-US" },
    ].map((query) => JSON.stringify(read(query).options));
    expect(new Set(same).size).toBe(1);
  });

  it("prefer the more exact parameter", () => {
    const { screen, userAgent } = read({
      device: "ipad",
      viewport: "700x800",
      viewportWidth: "650",
      userAgent: "Me",
    }).options;
    expect([screen.width, screen.height, userAgent]).toEqual([650, 800, "Me"]);
  });

  it.each(["width", "height", "viewportWidth", "viewportHeight", "quality", "delay"])(
    "accept the whole range of %s and nothing else",
    (name) => {
      const [least, most] = {
        width: [1, 16383],
        height: [1, 16383],
        viewportWidth: [1, 1600],
        viewportHeight: [1, 1600],
        quality: [1, 100],
        delay: [0, 10],
      }[name] ?? [0, 0];
      fc.assert(
        fc.property(
          fc.oneof(fc.integer(), fc.integer({ min: (least ?? 0) - 3, max: (most ?? 0) + 3 })),
          (value) => {
            const accepted = value >= (least ?? 0) && value <= (most ?? 0);
            if (accepted) expect(() => read({ [name]: String(value) })).not.toThrow();
            else expect(refusal({ [name]: String(value) })).toMatchObject({ status: 400, param: name });
          },
        ),
      );
    },
  );

  it.each(["constructor", "__proto__", "huge", "0x0"])("are refused with the size %s", (size) => {
    expect(refusal({ size })).toMatchObject({ status: 400, param: "size" });
  });

  it.each([
    ["fullPage", "full"],
    ["full_page", "full"],
    ["SIZE", "size"],
    ["with", "width"],
    ["heigth", "height"],
    ["user_agent", "userAgent"],
    ["viewport-width", "viewportWidth"],
    ["amp;format", "format"],
    ["dark", "darkMode"],
    ["max_age", "maxAge"],
    ["asynch", "async"],
    ["Key", "key"],
  ])("are refused with the unknown name %s, and the error suggests %s", (name, nearest) => {
    const error = refusal({ [name]: "1" });
    expect(error).toMatchObject({
      status: 400,
      param: name,
      message: expect.stringContaining(`${nearest}?`),
    });
  });

  it.each([
    ["url", "example.com/?url=a", "a"],
    ["size", "t", "o"],
    ["full", "true", "false"],
    ["selector", "#a", "#b"],
    ["width", "1", ""],
  ])("are refused with %s twice, because one would have no effect", (name, one, other) => {
    const search = new URLSearchParams([...(name === "url" ? [] : [["url", "example.com"]]), [name, one]]);
    expect(() => readThumbnailRequest(search, safety)).not.toThrow();
    search.append(name, one);
    expect(() => readThumbnailRequest(search, safety)).not.toThrow();
    search.append(name, other);
    expect(() => readThumbnailRequest(search, safety)).toThrow(
      expect.objectContaining({
        status: 400,
        param: name,
        message: expect.stringContaining("more than once"),
      }),
    );
  });

  it("are listed in the error if no name is similar, and so are the sizes for an unknown size", () => {
    expect(refusal({ utm_source: "x" })?.message).toMatch(/utm_source.*url, .*full.*percent-encoded/);
    expect(refusal({ size: "bogus" })?.message).toContain("t, s, m, l, x, og, o");
    expect(refusal({ size: "12y" })?.message).toContain("640x480");
  });

  it("give options or a 400 that names a parameter, for any query", () => {
    const names = fc.constantFrom(
      "url",
      "size",
      "viewport",
      "device",
      "format",
      "selector",
      "userAgent",
      "maxAge",
      "waitUntil",
      "full",
    );
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), (query) => {
        const error = refusal(query);
        if (error !== null)
          expect(error).toMatchObject({ status: 400, param: expect.toBeOneOf(Object.keys(query)) });
      }),
    );
  });

  it("include 29 devices whose viewports a caller could request", () => {
    expect(DEVICE_NAMES).toHaveLength(29);
    for (const name of DEVICE_NAMES) {
      expect(name).toMatch(/^[a-z0-9]+$/);
      const device = findDevice(name);
      const viewport = `${device?.width}x${device?.height}`;
      expect(read({ device: name }).options.screen).toMatchObject(
        read({ viewport }).options.screen.width > 0 ? { width: device?.width } : {},
      );
    }
    expect(DEVICE_NAMES).toEqual(
      expect.arrayContaining(["laptopwithtouch", "laptopwithmdpiscreen", "laptopwithhidpiscreen"]),
    );
  });
});

function refusal(query: Record<string, string>): GatewayError | null {
  try {
    read(query);
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
