import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createRequire } from "node:module";
import decodeAvif, { init as initAvif } from "@jsquash/avif/decode.js";
import decodeJpeg, { init as initJpeg } from "@jsquash/jpeg/decode.js";
import decodePng, { init as initPng } from "@jsquash/png/decode.js";
import decodeWebp, { init as initWebp } from "@jsquash/webp/decode.js";
import { afterAll, beforeAll, expect } from "vitest";
import { allowPrivateHosts } from "../../scripts/development.mjs";
import type { BrowserCounts } from "../../src/pages/browser/browser-service.ts";
import { DenoGateway } from "./deno.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { type LocalServer, type RequestHandler, serve } from "./local-server.ts";

/** Sends a page with this body. */
export function html(response: ServerResponse, body: string, head = ""): void {
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(
    `<!doctype html><html><head><title>Test</title>${head}</head><body style="margin:0">${body}</body></html>`,
  );
}

/** Starts the gateway with a browser that may load pages from these hosts, and with a high rate limit. */
export function startPageService(
  hosts: readonly string[],
  vars: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const list = hosts.join(",");
  allowPrivateHosts(list);
  return startGateway({
    vars: { PAGE_PRIVATE_HOSTS: list, PAGE_RATE_LIMIT: "1000000", DNS_OVER_HTTPS_URL: "off", ...vars },
  });
}

/** A local site, and a gateway with a browser that may load it. */
export interface SitePages {
  /** `http://127.0.0.1:<port>` of the site. */
  readonly origin: string;
  /** `127.0.0.1:<port>` of the site. */
  readonly host: string;
  readonly gateway: Gateway;
}

/** Serves a site and starts a gateway with a browser for it before the tests of a block. Stops both after them. */
export function useSite(handler: RequestHandler, vars: Readonly<Record<string, string>> = {}): SitePages {
  let site: LocalServer | undefined;
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    site = await serve(handler);
    gateway = await startPageService([site.host], vars);
  });
  afterAll(async () => {
    await gateway?.close();
    await site?.close();
  });
  const getSite = (): LocalServer => {
    if (site === undefined) throw new Error("The site is not served yet.");
    return site;
  };
  return {
    get origin() {
      return getSite().origin;
    },
    get host() {
      return getSite().host;
    },
    get gateway() {
      if (gateway === undefined) throw new Error("The gateway is not running yet.");
      return gateway;
    },
  };
}

/** A decoded image: RGBA. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

const require = createRequire(import.meta.url);
// The types of Workers omit the compiling constructor, because Workers cannot compile at run time.
const compile: (bytes: BufferSource) => WebAssembly.Module = (bytes) =>
  Reflect.construct(WebAssembly.Module, [bytes]);
const wasm = (path: string) => compile(readFileSync(require.resolve(path)));

/** Decodes an image by its bytes, not by a header. */
export async function decode(bytes: ArrayBuffer): Promise<Picture & { readonly format: string }> {
  const start = Buffer.from(bytes.slice(0, 12)).toString("latin1");
  if (start.startsWith("\x89PNG")) {
    await initPng(await wasm("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"));
    return { format: "png", ...pixels(await decodePng(bytes)) };
  }
  if (start.startsWith("\xff\xd8\xff")) {
    await initJpeg(await wasm("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"));
    return { format: "jpeg", ...pixels(await decodeJpeg(bytes)) };
  }
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) {
    await initWebp(await wasm("@jsquash/webp/codec/dec/webp_dec.wasm"));
    return { format: "webp", ...pixels(await decodeWebp(bytes)) };
  }
  if (start.slice(4) === "ftypavif") {
    await initAvif(await wasm("@jsquash/avif/codec/dec/avif_dec.wasm"));
    const decoded = await decodeAvif(bytes);
    if (decoded === null) throw new Error("These bytes are no AVIF image.");
    return { format: "avif", ...pixels(decoded) };
  }
  throw new Error(`These bytes are no image: ${start}`);
}

/** Decodes the image of a response, which must have status 200. */
export async function readPicture(response: Response): ReturnType<typeof decode> {
  const bytes = await response.arrayBuffer();
  expect(response.status, Buffer.from(bytes).toString()).toBe(200);
  return decode(bytes);
}

function pixels({ width, height, data }: Picture): Picture {
  return { width, height, data };
}

export const RED = [255, 0, 0];
export const GREEN = [0, 128, 0];
export const BLUE = [0, 0, 255];
export const WHITE = [255, 255, 255];

/** Color of a pixel as `[red, green, blue]`. */
export function colourAt({ width, data }: Picture, x: number, y: number): [number, number, number] {
  const at = (Math.floor(y) * width + Math.floor(x)) * 4;
  return [data[at] ?? -1, data[at + 1] ?? -1, data[at + 2] ?? -1];
}

/** Whether two colors are similar: JPEG and scaling change each a little. */
export function isSimilarColour(a: readonly number[], b: readonly number[], tolerance = 24): boolean {
  return a.every((value, channel) => Math.abs(value - (b[channel] ?? 0)) <= tolerance);
}

/** Expects a pixel to have nearly this color. */
export function expectColour(image: Picture, x: number, y: number, colour: readonly number[]): void {
  expect(colourAt(image, x, y), `the color at ${x}, ${y}`).toSatisfy((found: number[]) =>
    isSimilarColour(found, colour),
  );
}

/** Chroma subsampling of a JPEG, from its frame header: `4:4:4` or `4:2:0`. */
export function colourSampling(bytes: ArrayBuffer): string {
  const view = new DataView(bytes);
  for (let at = 2; at < view.byteLength; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xc2) return view.getUint8(at + 11) === 0x11 ? "4:4:4" : "4:2:0";
  }
  return "unknown";
}

/**
 * Present and past load of the service's browser; see `BrowserCounts`. On Deno only the launches are known, from its log.
 *
 * @param worker the gateway's name in Miniflare
 */
export async function browserCounts(
  gateway: Pick<Gateway, "miniflare">,
  worker = "polygate",
): Promise<BrowserCounts> {
  if (gateway instanceof DenoGateway) {
    const launches = gateway.logs().filter((line) => line.includes('"browser":"started"')).length;
    return { open: 0, mostOpen: 0, launches };
  }
  const { miniflare } = gateway;
  const objects = await miniflare.getDurableObjectNamespace("BROWSER_SESSION", worker);
  const browser: unknown = objects.get(objects.idFromName("browser-0"));
  if (typeof browser !== "object" || browser === null || !("counts" in browser))
    throw new Error("There is no browser object.");
  if (typeof browser.counts !== "function") throw new Error("The browser object does not count.");
  return browser.counts();
}
