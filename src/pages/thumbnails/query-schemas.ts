import * as z from "zod";
import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { MAX_SELECTOR, momentParameters } from "../http/moment-parameters.ts";
import { commonParameters, flag } from "../http/query-schemas.ts";
import { MAX_SIDE } from "../images/capture-plan.ts";
import { DEVICE_NAMES } from "./devices.ts";
import { MAX_LOCALE, MAX_TIMEZONE } from "./locale-parameters.ts";
import { DEFAULT_PAPER, PAPER_NAMES } from "./paper-layout.ts";
import { MAX_BANNER, MAX_RANGES } from "./print-options.ts";
import {
  FORMATS,
  MAX_CLICKS,
  MAX_HIDDEN,
  MAX_PADDING,
  MAX_SELECTORS,
  MAX_USER_AGENT,
  MEDIA_TYPES,
  SCENARIOS,
} from "./thumbnail-parameters.ts";

const side = () => z.int().min(1).max(MAX_SIDE).optional();
const selector = () => z.string().max(MAX_SELECTOR);
const viewport = () => z.int().min(1).max(1600).optional();
/** Maximum characters of a text with a few numbers, including optional spaces. */
const MAX_NUMBERS = 100;

/** Query of `GET /v1/thumbs`. */
export const thumbnailQuerySchema = lazyObject(() => ({
  ...commonParameters(),
  size: z.string().max(MAX_NUMBERS).optional().describe("t, s, m, l, x, og, o, or <width>x<height>."),
  width: side(),
  height: side(),
  format: z.enum(FORMATS).default("jpg"),
  quality: z.int().min(1).max(100).default(100),
  full: flag("The whole page, not only what the viewport shows."),
  scenario: z
    .enum(SCENARIOS)
    .optional()
    .describe("scroll: an animation that scrolls through the page, with format=webp."),
  paper: z.enum(PAPER_NAMES).default(DEFAULT_PAPER).describe("Of a PDF."),
  landscape: flag("The sheets of a PDF lie on their side."),
  margins: z
    .string()
    .max(MAX_NUMBERS)
    .optional()
    .describe("Of a PDF: one to four lengths, such as 10mm or 1in,20mm; top, right, bottom, left."),
  header: z
    .string()
    .max(MAX_BANNER)
    .optional()
    .describe(
      "Of a PDF: text above each sheet; | parts left, middle and right; {page}, {pages}, {date}, {title}, {url}.",
    ),
  footer: z.string().max(MAX_BANNER).optional().describe("Of a PDF: text below each sheet, as header."),
  pageRanges: z.string().max(MAX_RANGES).optional().describe("Of a PDF: the sheets to print, such as 1-3,5."),
  outline: flag("Of a PDF: an outline of the page's headings."),
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
  selectors: z
    .array(selector())
    .max(MAX_SELECTORS)
    .optional()
    .describe("CSS selectors of elements to show together, in one image around all."),
  padding: z.int().min(0).max(MAX_PADDING).default(0).describe("CSS pixels of the page around the elements."),
  scrollTo: selector()
    .optional()
    .describe("CSS selector of the element at which the image begins, such as #part."),
  detectFullHeight: flag("With full: a scroll area that fills the page is shown in its full height."),
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
  ...momentParameters(),
  scroll: z
    .boolean()
    .optional()
    .describe("The page is scrolled through first, which loads its lazy images; always with full."),
  darkMode: flag("The page's dark appearance."),
  reducedMotion: flag("The page is told that its visitor wants little motion."),
  media: z.enum(MEDIA_TYPES).optional().describe("CSS media type: print for a PDF, otherwise screen."),
  transparent: flag("No white behind a page without a background; for png and webp."),
  timezone: z.string().max(MAX_TIMEZONE).optional().describe("Time zone of the page, such as Europe/Berlin."),
  locale: z.string().max(MAX_LOCALE).optional().describe("Language and region of the page, such as de-CH."),
  blockAds: flag("Without advertisements and trackers."),
  blockCookieBanners: flag("Without cookie banners."),
  output: z.enum(["raw", "json"]).default("raw"),
}));
