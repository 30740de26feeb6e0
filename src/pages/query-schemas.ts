import * as z from "zod";
import { lazyObject, lazyStrictObject, once } from "../encoding/lazy-schema.ts";
import { DEFAULT_MAX_AGE, MAX_AGE_LIMIT } from "./freshness.ts";
import { describeUnknownName } from "./parameters.ts";
import { DEVICE_NAMES } from "./thumbnails/devices.ts";
import { MAX_SIDE } from "./thumbnails/frame.ts";
import {
  FORMATS,
  MAX_CLICKS,
  MAX_HIDDEN,
  MAX_SELECTOR,
  MAX_USER_AGENT,
  WAIT_UNTIL,
} from "./thumbnails/parameters.ts";
import { MAX_LOCALE, MAX_TIMEZONE } from "./thumbnails/place.ts";
import { DEFAULT_PAPER, PAPER_NAMES } from "./thumbnails/sheet.ts";

/*
 * The queries of the page service for the OpenAPI document. `QueryParameters` validates them; it accepts more spellings
 * than a schema can express. A test compares the names.
 */

const flag = (what: string) => z.boolean().default(false).describe(what);
const side = () => z.int().min(1).max(MAX_SIDE).optional();
const selector = () => z.string().max(MAX_SELECTOR);
const viewport = () => z.int().min(1).max(1600).optional();
/** Maximum characters of a text with a few numbers, including optional spaces. */
const MAX_NUMBERS = 100;

/** Authentication parameters: an operator's key, or those of a signed link. */
const authParameters = once(() => ({
  key: z
    .string()
    .optional()
    .describe(
      "An API key, whose limit holds instead of the public one. It may be in the header Authorization, too.",
    ),
  keyId: z.string().optional().describe("Of a signed link: the id of the key that has signed it."),
  expires: z.int().optional().describe("Of a signed link: until when it holds, Unix seconds."),
  signature: z.string().optional().describe("Of a signed link: HMAC-SHA-256 in base64url."),
}));

const commonParameters = once(() => ({
  ...authParameters(),
  async: flag("Answers 202 at once with a job, whose address tells how it goes on."),
  url: z.string().min(1).describe("Address of the page; the scheme may be left out."),
  prettify: flag("JSON with line breaks."),
  maxAge: z
    .int()
    .min(0)
    .max(MAX_AGE_LIMIT)
    .default(DEFAULT_MAX_AGE)
    .describe("Seconds that a kept answer may be old; 0: a new one."),
  staleWhileRevalidate: z
    .int()
    .min(0)
    .max(MAX_AGE_LIMIT)
    .optional()
    .describe(
      "Seconds beyond maxAge for which a kept answer is given at once, while a new one is made. 86400, or 0 with maxAge.",
    ),
}));

/** Query of `GET /v1/thumbs`. */
export const thumbnailQuerySchema = lazyObject(() => ({
  ...commonParameters(),
  size: z.string().max(MAX_NUMBERS).optional().describe("t, s, m, l, x, og, o, or <width>x<height>."),
  width: side(),
  height: side(),
  format: z.enum(FORMATS).default("jpg"),
  quality: z.int().min(1).max(100).default(100),
  full: flag("The whole page, not only what the viewport shows."),
  paper: z.enum(PAPER_NAMES).default(DEFAULT_PAPER).describe("Of a PDF."),
  landscape: flag("The sheets of a PDF lie on their side."),
  margins: z
    .string()
    .max(MAX_NUMBERS)
    .optional()
    .describe("Of a PDF: one to four lengths, such as 10mm or 1in,20mm; top, right, bottom, left."),
  mobile: flag("As a phone sees the page."),
  device: z.enum(DEVICE_NAMES).optional(),
  viewport: z.string().max(MAX_NUMBERS).optional().describe("<width>x<height> in CSS pixels."),
  viewportWidth: viewport(),
  viewportHeight: viewport(),
  userAgent: z.string().max(MAX_USER_AGENT).optional(),
  scale: z
    .number()
    .min(1)
    .max(3)
    .optional()
    .describe("Pixels for each one of the size: 2 for dense screens."),
  selector: selector().optional().describe("CSS selector of the element to show."),
  clip: z
    .string()
    .max(MAX_NUMBERS)
    .regex(/^\d+,\d+,\d+,\d+$/)
    .optional()
    .describe("The part of the page to show: <x>,<y>,<width>,<height> in CSS pixels."),
  hide: z.array(selector()).max(MAX_HIDDEN).optional().describe("CSS selector of elements to leave out."),
  click: z
    .array(selector())
    .max(MAX_CLICKS)
    .optional()
    .describe("CSS selector of an element to click on, once the page has loaded; several in their order."),
  waitForSelector: selector()
    .optional()
    .describe("CSS selector of an element that the page has to have first."),
  scroll: z
    .boolean()
    .optional()
    .describe("The page is scrolled through first, which loads its lazy images; always with full."),
  delay: z.int().min(0).max(10).default(0).describe("Seconds to wait after the page has loaded."),
  waitUntil: z.enum(WAIT_UNTIL).default("load"),
  darkMode: flag("The page's dark appearance."),
  transparent: flag("No white behind a page without a background; for png and webp."),
  timezone: z.string().max(MAX_TIMEZONE).optional().describe("Time zone of the page, such as Europe/Berlin."),
  locale: z.string().max(MAX_LOCALE).optional().describe("Language and region of the page, such as de-CH."),
  blockAds: flag("Without advertisements and trackers."),
  blockCookieBanners: flag("Without cookie banners."),
  output: z.enum(["raw", "json"]).default("raw"),
}));

/** Query of `GET /v1/technologies`. */
export const technologiesQuerySchema = lazyObject(commonParameters);

/** Query of `GET /v1/metadata`. */
export const metadataQuerySchema = lazyObject(() => ({
  ...commonParameters(),
  technologies: flag("What the page is built with is told, too."),
}));

/**
 * Query parameters that a body does not have: `urls` replaces the address, and authentication is in the query or a
 * header.
 */
const queryOnlyNames = once(() => ["url", "async", ...Object.keys(authParameters())]);

/** The parameters of a query as optional members of a body, with their own types and without defaults. */
function bodyMembers({ shape }: z.ZodObject): Record<string, z.ZodType> {
  const members = Object.entries(shape).filter(([name]) => !queryOnlyNames().includes(name));
  return Object.fromEntries(
    members.map(([name, field]) => [
      name,
      z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
    ]),
  );
}

/** Maximum addresses of one job. */
const MAX_URLS = 50;
const urls = () => z.array(z.string().trim().min(1)).min(1).max(MAX_URLS).describe("Addresses of the pages.");

/** The body schema for a query with many addresses. */
function createBatchSchema<Query extends z.ZodObject>(query: Query) {
  return lazyStrictObject(() => ({ urls: urls(), ...bodyMembers(query) }), describeUnknownName);
}

/** The query parameters allowed together with a body. */
export const batchQuerySchema = lazyObject(() => {
  const { key } = authParameters();
  return { key };
});

/** Body of `POST /v1/thumbs`. */
export const thumbnailBatchSchema = createBatchSchema(thumbnailQuerySchema);

/** Body of `POST /v1/technologies`. */
export const technologiesBatchSchema = createBatchSchema(technologiesQuerySchema);

/** Body of `POST /v1/metadata`. */
export const metadataBatchSchema = createBatchSchema(metadataQuerySchema);
