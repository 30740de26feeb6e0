import * as z from "zod";
import { toBase64, toUtf8 } from "../../core/encoding/bytes.ts";
import { oncePer } from "../../core/encoding/once.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import type { PictureOutcome, PrintOutcome, Size, ThumbnailOptions } from "../../core/ports/page-browser.ts";
import type { PagesPlatform } from "../../core/ports/pages.ts";
import { type NewAnswer, type ServableAnswer, withConversion } from "../answers/answer.ts";
import { cacheLifetime, INCOMPLETE_REASON, incompleteMembers, pageHeaders } from "../answers/page-headers.ts";
import { browserUnavailable } from "../browser/failures.ts";
import { createCacheKey, getOrCreate } from "../cache/answer-cache.ts";
import { THUMBNAIL_HEADERS, THUMBNAIL_STATUSES } from "../http/openapi-descriptions.ts";
import { incompleteSchema } from "../http/query-schemas.ts";
import type { Operation } from "../operations/define-operation.ts";
import type { PageWork } from "../operations/page-work.ts";
import { readThumbnailRequest, type ThumbnailRequest, thumbnailQuerySchema } from "./thumbnail-parameters.ts";

/** A picture as JSON (docs/page-contract/thumbnails.md, Thumbnail JSON result). */
export const thumbnailSchema = () =>
  z.object({
    mime_type: z.string(),
    base64: z.string(),
    width: z.int(),
    height: z.int(),
    ...incompleteSchema(),
  });

/** The schema of a binary picture. */
const BINARY_SCHEMA = { type: "string", contentEncoding: "binary" };

/** Schemas of pictures and PDFs by their media types. */
export const PICTURE_SCHEMAS = {
  "image/jpeg": BINARY_SCHEMA,
  "image/png": BINARY_SCHEMA,
  "image/webp": BINARY_SCHEMA,
  "image/avif": BINARY_SCHEMA,
  "application/pdf": BINARY_SCHEMA,
};

/**
 * Returns a picture, from the cache or from a new capture, in the requested form.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
async function getThumbnailAnswer(
  work: PageWork,
  request: ThumbnailRequest,
  admitted: Promise<void>,
): Promise<ServableAnswer> {
  const { options, setup, freshness } = request;
  if (options.format === "avif" && !work.platform.pages.supportsAvif)
    throw invalidRequest(
      "This deployment makes no AVIF images: format=webp is smaller than jpg, too.",
      "format",
    );
  const key = await createCacheKey(work, "thumbs", setup, options);
  const answer = await getOrCreate(work, key, freshness, admitted, (signal) =>
    captureThumbnail({ ...work, signal }, options),
  );
  return request.output === "json" ? toJsonAnswer(answer, request) : answer;
}

async function captureThumbnail(
  { platform, client, signal }: PageWork,
  options: ThumbnailOptions,
): Promise<NewAnswer> {
  const { pages, now } = platform;
  if (pages.browser === null) throw browserUnavailable();
  const captured = await pages.browser.capture(options, client, signal);
  const { body, headers } =
    captured.kind === "print" ? renderPdf(captured, options) : await renderImage(pages, captured, options);
  return {
    body,
    headers: { ...headers, ...pageHeaders(captured) },
    madeAt: now(),
    lifetime: cacheLifetime(captured),
  };
}

type RenderedThumbnail = Pick<NewAnswer, "body" | "headers">;

async function renderImage(
  pages: PagesPlatform,
  { plan, cutAt, cutWidthAt, finished, bytes }: PictureOutcome,
  { format, quality, transparent }: ThumbnailOptions,
): Promise<RenderedThumbnail> {
  const { output, scale } = plan;
  if (format === "avif" && output.width * output.height > MAX_AVIF_PIXELS) throw avifTooLarge();
  const convert = async () => {
    const converter = await getImageConverter(pages);
    return converter.convert(bytes, output, format, quality, Math.ceil(scale), transparent);
  };
  return {
    body: finished ? bytes : await convert(),
    headers: {
      ...contentHeaders(`image/${format}`, output),
      ...(cutAt !== null && { "x-page-cut-at": String(cutAt) }),
      ...(cutWidthAt !== null && { "x-page-cut-at-width": String(cutWidthAt) }),
    },
  };
}

/** Maximum pixels of an AVIF image: encoding takes 0.2 seconds for each million. */
const MAX_AVIF_PIXELS = 4_000_000;

function avifTooLarge(): GatewayError {
  return new GatewayError(400, `An AVIF image may have at most ${MAX_AVIF_PIXELS} pixels.`, {
    code: "page_too_large",
    param: "format",
  });
}

function renderPdf({ bytes, sheets, isCut }: PrintOutcome, { sheet }: ThumbnailOptions): RenderedThumbnail {
  const { width, height } = sheet ?? { width: 0, height: 0 };
  return {
    body: bytes,
    headers: {
      ...contentHeaders("application/pdf", {
        width: Math.round(width * 96),
        height: Math.round(height * 96),
      }),
      ...(sheets > 0 && { "x-page-sheets": String(sheets) }),
      ...(isCut && { "x-page-cut-at-sheet": String(sheets) }),
    },
  };
}

function contentHeaders(type: string, { width, height }: Size): Record<string, string> {
  return { "content-type": type, "x-image-width": String(width), "x-image-height": String(height) };
}

/** An image as JSON (docs/page-contract/thumbnails.md, Thumbnail JSON result). */
function toJsonAnswer(image: ServableAnswer, { prettify }: ThumbnailRequest): ServableAnswer {
  const { headers } = image;
  const type = { ...headers, "content-type": "application/json" };
  return withConversion(image, prettify ? "pretty" : "json", type, (bytes) => {
    const result = {
      mime_type: headers["content-type"],
      base64: toBase64(bytes),
      width: Number(headers["x-image-width"]),
      height: Number(headers["x-image-height"]),
      ...incompleteMembers(headers[INCOMPLETE_REASON]),
    };
    const text = JSON.stringify(result, null, prettify ? 2 : 0);
    return toUtf8(prettify ? `${text}\n` : text);
  });
}

const getImageConverter = oncePer((pages: PagesPlatform) => pages.loadImageConversion());

/** `/v1/thumbs`: a screenshot of a page, as an image, a PDF or JSON (docs/page-contract/thumbnails.md). */
export const THUMBS: Operation<ThumbnailRequest> = {
  name: "thumbs",
  summary: "Screenshot or PDF of a web page",
  query: thumbnailQuerySchema,
  answers: () => ({ ...PICTURE_SCHEMAS, "application/json": thumbnailSchema() }),
  headers: THUMBNAIL_HEADERS,
  statuses: THUMBNAIL_STATUSES,
  read: readThumbnailRequest,
  getAnswer: getThumbnailAnswer,
};
