import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { readBytes as bodyBytes } from "../../../../src/pages/answers/answer.ts";
import { getOrCreate } from "../../../../src/pages/cache/answer-cache.ts";
import { readImageSize } from "../../../../src/pages/images/image-size.ts";
import { parseMetadata } from "../../../../src/pages/metadata/parse-metadata.ts";
import { decodePage } from "../../../../src/pages/technologies/decode-page.ts";
import { headerSignals, parseCookieSignals } from "../../../../src/pages/technologies/html-signals.ts";
import { parseProbeResult } from "../../../../src/pages/technologies/probe.ts";
import { readThumbnailRequest } from "../../../../src/pages/thumbnails/thumbnail-parameters.ts";
import { PAGES } from "../corpus/texts.ts";
import { bytesOf, only, type Target, target } from "../target.ts";
import { headersOf, messageIn } from "./messages.ts";

const RESPONSES = [
  ...PAGES.map((page) => `200\ncontent-type: text/html; charset=utf-8\ncontent-language: de, en\n\n${page}`),
  "200\nlink: </canonical>; rel=\"canonical\", <https://x.example/>; rel=next; title*=UTF-8''x\nset-cookie: a=b; path=/\nset-cookie: __proto__=1\n\n<title>t</title>",
  "200\ncontent-type: text/html; charset=utf-16le\n\n<meta charset=windows-1252><link rel=icon href='//x' sizes='16x16 any'>",
  '200\n\n<meta property="og:title" content="x"><meta property="og:image:url" content="../a"><base href="https://b.example/c/">',
  "200\n\n<?xml version='1.0' encoding='shift_jis'?><link rel=alternate type=application/rss+xml href=feed>",
];

/** What a page says of itself is read, however it says it: addresses are addresses. */
const metadata = target("page metadata", RESPONSES, (input) => {
  const message = messageIn(input);
  const headers = headersOf(message);
  const html = decodePage(bytesOf(message.body), headers.get("content-type") ?? "");
  const read = parseMetadata({ html, url: "https://example.com/a/b", headers: headerSignals(headers) });
  for (const address of [...read.icons.map(({ url }) => url), ...read.feeds.map(({ url }) => url)])
    new URL(address);
  if (read.canonical !== null) new URL(read.canonical);
  parseCookieSignals(headers.getSetCookie());
  JSON.stringify(read);
});

const QUERIES = [
  "url=https://example.com&width=320&height=200&format=webp&full=true&quality=80",
  "url=https://example.com&clip=0,0,10,10&scale=2&mobile=true&device=iphone",
  "url=https://example.com&format=pdf&paper=a4&landscape=1&margin=1cm&pages=1-2",
  "url=https://example.com&selector=%23main&delay=1e3&userAgent=x&size=1200x630&click=.a&hide=.b",
];

/** A query of a thumbnail is understood, or refused with the reason; sizes are whole, and within bounds. */
const thumbnails = target("thumbnail queries", QUERIES, async (input) => {
  const search = new URLSearchParams(input);
  const request = await only([GatewayError], () => readThumbnailRequest(search, { privateHosts: new Set() }));
  if (request !== undefined && /NaN|Infinity/.test(JSON.stringify(request)))
    throw new Error("a number is none");
});

const IMAGES = [
  "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\0\x80\x08\x06",
  "\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x20\0\x40\x03",
  "RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\0\0\x7f\0\0",
  "RIFF\x24\0\0\0WEBPVP8L\x0a\0\0\0\x2f\xff\xc0\x1f\0",
];

/** The reader returns the size of an image, or null. */
const images = target("image sizes", IMAGES, (input) => {
  const size = readImageSize(bytesOf(input));
  if (size !== null && !(size.width >= 0 && size.height >= 0)) throw new Error(JSON.stringify(size));
});

const PROBES = [
  '{"globals":[["jQuery.fn.jquery","3.7.1"]],"found":[["#app","attributes","data-v","1"]]}',
  '{"globals":[],"found":[["a","exists","",""]]}',
];

/** A page that interferes with the probe is believed nothing. */
const probes = target("results of the probe", PROBES, (input) => {
  let result: unknown;
  try {
    result = JSON.parse(input);
  } catch {
    return;
  }
  const { js, dom } = parseProbeResult(result);
  if ([...js, ...dom].some(({ value }) => typeof value !== "string")) throw new Error("a value is no text");
});

const KEPT = [
  "200\nx-made-at: 1800000000000\nx-lifetime: 3600\nx-length: 4\nx-tag: abc\ncontent-type: text/plain\nx-page-status: 200\n\nbody",
  "200\nx-made-at: 1799999990000\nx-lifetime: 5\nx-tag: abc\n\nbody",
  "200\nx-made-at: NaN\nx-lifetime: -1\nx-length: 1e999\nx-tag: \n\n",
];

/** What is found in the cache is given as it is, or made anew: never both, never nothing. */
const keptAnswers = target("metadata of kept answers", KEPT, async (input) => {
  const message = messageIn(input);
  const made = new Uint8Array([1]);
  const found = { headers: headersOf(message), body: bytesOf(message.body) };
  const cache = { match: async () => found, put: async () => undefined };
  const answer = await getOrCreate(
    { waitUntil: () => undefined, platform: { now: () => 1_800_000_000_000, pages: { cache } } },
    "https://gateway.test/.kept/x",
    { maxAge: 60, staleFor: 60 },
    Promise.resolve(),
    async () => ({ body: made, headers: {}, madeAt: 1_800_000_000_000, lifetime: 60 }),
  );
  const body = await bodyBytes(answer.body);
  const expected = answer.isHit ? found.body : made;
  if (body.join() !== expected.join()) throw new Error("the body is another one");
});

export const pagesTargets: readonly Target[] = [metadata, thumbnails, images, probes, keptAnswers];
