import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type {
  ImageFormat,
  PaperLayout,
  Screen,
  Size,
  ThumbnailOptions,
} from "../../core/ports/page-browser.ts";
import { readFreshness } from "../http/freshness.ts";
import { MAX_SELECTOR, MOMENT_PARAMETERS, readMoment } from "../http/moment-parameters.ts";
import { type PageSource, readPageUrl, readSetup } from "../http/page-setup-parameters.ts";
import {
  choice,
  decimal,
  flag,
  integer,
  optionalFlag,
  type ParameterValues,
  parsed,
  readParameters,
  rejectParameters,
  shortText,
  text,
  textList,
  withDefault,
} from "../http/parameter-table.ts";
import { parseDimensions, QueryParameters } from "../http/query-parameters.ts";
import { createQuerySchema, PRETTIFY } from "../http/query-schemas.ts";
import type { OperationRequest } from "../operations/define-operation.ts";
import { DEVICE_NAMES, findDevice } from "./devices.ts";
import { LOCALE_PARAMETERS } from "./locale-parameters.ts";
import { createPaperLayout, PAPER_PARAMETERS } from "./paper-layout.ts";
import { PRINT_PARAMETERS } from "./print-options.ts";
import { CLIP, getRequestedSize, SIZE_PARAMETERS, selectSubject } from "./size-parameters.ts";

/** A thumbnail request: the image, and the form of the answer. */
export interface ThumbnailRequest extends OperationRequest {
  readonly options: ThumbnailOptions;
  readonly output: "raw" | "json";
  readonly prettify: boolean;
}

/** The output formats of a page. */
const FORMATS = ["jpg", "jpeg", "png", "webp", "avif", "pdf"] as const;
type Format = (typeof FORMATS)[number];
const OUTPUTS = ["raw", "json"] as const;
/** Formats of images with transparent parts. */
const TRANSPARENT_FORMATS: readonly Format[] = ["png", "webp", "avif"];

const MAX_VIEWPORT = 1600;
const DEFAULT_VIEWPORT: Size = { width: 1200, height: 1200 };
const MOBILE_VIEWPORT: Size = { width: 412, height: 732 };
/** Maximum characters of a user agent. */
const MAX_USER_AGENT = 512;
/** Maximum number of `hide`, of `click` and of `selectors`. */
const MAX_HIDDEN = 10;
const MAX_CLICKS = 5;
const MAX_SELECTORS = 10;
/** CSS pixels. */
const MAX_PADDING = 1_000;

/** The parameters of images. A PDF cannot have them. */
const IMAGE_PARAMETERS = {
  ...SIZE_PARAMETERS,
  scale: decimal(1, 3, "Pixels for each one of the size: 2 for dense screens."),
  selector: text(MAX_SELECTOR, "CSS selector of the element to show."),
  selectors: textList(
    MAX_SELECTORS,
    MAX_SELECTOR,
    "CSS selectors of elements to show together, in one image around all.",
  ),
  clip: CLIP,
  scrollTo: text(MAX_SELECTOR, "CSS selector of the element at which the image begins, such as #part."),
};

/** The parameters of PDFs. An image cannot have them. */
const PDF_PARAMETERS = { ...PAPER_PARAMETERS, ...PRINT_PARAMETERS };

/** The parameters of images of elements. */
const ELEMENT_PARAMETERS = {
  padding: withDefault(integer(0, MAX_PADDING, "CSS pixels of the page around the elements."), 0),
};

/** The emulated device. */
const SCREEN_PARAMETERS = {
  mobile: flag("As a phone sees the page."),
  device: parsed(choice(DEVICE_NAMES, "The device whose user agent and viewport the page gets."), findDevice),
  viewport: parsed(shortText("<width>x<height> in CSS pixels."), (value, name) =>
    parseDimensions(name, value, 1, MAX_VIEWPORT),
  ),
  viewportWidth: integer(1, MAX_VIEWPORT, "The width of the viewport in CSS pixels."),
  viewportHeight: integer(1, MAX_VIEWPORT, "The height of the viewport in CSS pixels."),
};

/** The other parameters of this operation alone. */
const PICTURE_PARAMETERS = {
  format: withDefault<Format>(choice(FORMATS, "The format of the image, or pdf."), "jpg"),
  quality: withDefault(integer(1, 100, "The quality of the image; without effect on png."), 100),
  full: flag("The whole page, not only what the viewport shows."),
  scenario: choice(["scroll"], "scroll: an animation that scrolls through the page, with format=webp."),
  ...SCREEN_PARAMETERS,
  userAgent: text(MAX_USER_AGENT, "The user agent to send."),
  detectFullHeight: flag("With full: a scroll area that fills the page is shown in its full height."),
  hide: textList(MAX_HIDDEN, MAX_SELECTOR, "CSS selector of elements to leave out."),
  click: textList(
    MAX_CLICKS,
    MAX_SELECTOR,
    "CSS selector of an element to click on, once the page has loaded; several in their order.",
  ),
  scroll: optionalFlag(
    "The page is scrolled through first, which loads its lazy images. The default is true for full and for a PDF.",
  ),
  darkMode: flag("The page's dark appearance."),
  reducedMotion: flag("Tells the page that its visitor wants little motion."),
  media: choice(["screen", "print"], "CSS media type: print for a PDF, otherwise screen."),
  transparent: flag("No white behind a page without a background; for png, webp and avif."),
  ...LOCALE_PARAMETERS,
  blockAds: flag("Without advertisements and trackers."),
  blockCookieBanners: flag("Without cookie banners."),
  output: withDefault(choice(OUTPUTS, "raw: the image itself; json: an object with it."), "raw"),
  prettify: PRETTIFY,
};

/** Query of `GET /v1/thumbs`. */
export const thumbnailQuerySchema = createQuerySchema({
  ...IMAGE_PARAMETERS,
  ...ELEMENT_PARAMETERS,
  ...PDF_PARAMETERS,
  ...PICTURE_PARAMETERS,
  ...MOMENT_PARAMETERS,
});

/** The user agent for `mobile` without a device. */
const MOBILE_USER_AGENT =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s Mobile Safari/537.36";

type PdfValues = ParameterValues<typeof PDF_PARAMETERS>;
type PictureValues = ParameterValues<typeof PICTURE_PARAMETERS>;

/**
 * Parses the query of a thumbnail request (docs/page-contract/thumbnails.md).
 *
 * @throws GatewayError 400 that names the invalid parameter
 */
export function readThumbnailRequest(search: URLSearchParams, source: PageSource): ThumbnailRequest {
  const query = new QueryParameters(search);
  const url = readPageUrl(query, source).href;
  const setup = readSetup(query, source);
  const picture = readParameters(query, PICTURE_PARAMETERS);
  const isPdf = picture.format === "pdf";
  if (isPdf) rejectParameters(query, IMAGE_PARAMETERS, "has no meaning for a PDF");
  else rejectParameters(query, PDF_PARAMETERS, "needs format=pdf");
  const image = readParameters(query, IMAGE_PARAMETERS);
  const pdf = readParameters(query, PDF_PARAMETERS);
  const { clip, scale, selector } = image;
  const selectors = selector === null ? image.selectors : [selector, ...image.selectors];
  if (selectors.length === 0) rejectParameters(query, ELEMENT_PARAMETERS, "needs a selector");
  const { padding } = readParameters(query, ELEMENT_PARAMETERS);
  rejectCombinations(picture, clip !== null, selectors.length > 0);
  const format = toImageFormat(picture.format);
  const { full, mobile, device } = picture;
  const subject = selectSubject({ clip, selectors, full });
  const request: ThumbnailRequest = {
    options: {
      url,
      setup,
      sheet: isPdf ? createSheet(pdf) : null,
      format,
      // Quality has no effect on png: so equal requests share a cache entry.
      quality: format === "png" ? 100 : picture.quality,
      full: full && !isPdf,
      scenario: picture.scenario,
      frame: getRequestedSize(image, mobile, subject, scale ?? 1),
      screen: createScreen(picture, scale),
      userAgent: picture.userAgent ?? device?.userAgent ?? (mobile ? MOBILE_USER_AGENT : null),
      selectors,
      padding,
      scrollTo: image.scrollTo,
      detectFullHeight: picture.detectFullHeight,
      clip,
      // Sorted, because the order has no effect: so equal requests share a cache entry.
      hide: [...new Set(picture.hide)].sort(),
      click: picture.click,
      ...readMoment(query),
      scroll: picture.scroll ?? (full || isPdf),
      darkMode: picture.darkMode,
      reducedMotion: picture.reducedMotion,
      media: picture.media,
      transparent: picture.transparent,
      timezone: picture.timezone,
      locale: picture.locale,
      blockAds: picture.blockAds,
      blockCookieBanners: picture.blockCookieBanners,
    },
    output: picture.output,
    prettify: picture.prettify,
    setup,
    freshness: readFreshness(query, setup),
  };
  query.rejectUnknown();
  return request;
}

/** Rejects parameters that do not go together. Throws a 400 that names one of them. */
function rejectCombinations(
  { format, full, scenario, transparent }: PictureValues,
  hasClip: boolean,
  hasElement: boolean,
): void {
  if (hasClip && hasElement)
    throw invalidRequest("The parameters clip and selector do not go together.", "clip");
  if (scenario !== null && format !== "webp")
    throw invalidRequest("The parameter scenario needs format=webp.", "scenario");
  if (scenario !== null && (full || hasClip || hasElement))
    throw invalidRequest("The parameter scenario does not go with full, clip or a selector.", "scenario");
  if (transparent && !TRANSPARENT_FORMATS.includes(format))
    throw invalidRequest("A transparent image needs format=png, format=webp or format=avif.", "transparent");
}

/** The format of the image that the browser takes; that of a PDF has no effect. */
function toImageFormat(format: Format): ImageFormat {
  if (format === "pdf") return "png";
  return format === "jpg" ? "jpeg" : format;
}

function createSheet({ header, footer, pageRanges, outline, ...paper }: PdfValues): PaperLayout {
  return { ...createPaperLayout(paper), header, footer, ranges: pageRanges ?? [], outline };
}

function createScreen(
  { mobile, device, viewport, viewportWidth, viewportHeight }: PictureValues,
  scale: number | null,
): Screen {
  const size = viewport ?? device ?? (mobile ? MOBILE_VIEWPORT : DEFAULT_VIEWPORT);
  return {
    width: viewportWidth ?? size.width,
    height: viewportHeight ?? size.height,
    deviceScaleFactor: scale ?? device?.deviceScaleFactor ?? (mobile ? 2 : 1),
    mobile: device?.mobile === true || mobile,
    touch: device?.touch === true || mobile,
  };
}
