import * as z from "zod";
import { toBase64, toUtf8 } from "../../encoding/bytes.ts";
import type { PictureOutcome, PrintOutcome, Size, ThumbnailOptions } from "../../platform/page-browser.ts";
import type { PagesPlatform } from "../../platform/pages.ts";
import { json, open } from "../../routing/endpoint.ts";
import { browserUnavailable } from "../browser/failures.ts";
import { BATCH_HEADERS, BATCH_STATUSES, THUMBNAIL_HEADERS, THUMBNAIL_STATUSES } from "../described.ts";
import { MAX_BATCH_BYTES, oneTask, refuseBatch, startBatch, startJob, wantsJob } from "../jobs/start.ts";
import { jobSchema } from "../jobs/view.ts";
import {
  answerResponse,
  cacheKey,
  inForm,
  type KeptAnswer,
  keptOrMade,
  type MadeAnswer,
  type PageWork,
} from "../kept-answers.ts";
import { lifetimeOf, pageHeaders } from "../page-headers.ts";
import { batchQuerySchema, thumbnailBatchSchema, thumbnailQuerySchema } from "../query-schemas.ts";
import { rateLimited } from "../rate-limit.ts";
import { ImageMaker } from "./images.ts";
import { readThumbnailRequest, type ThumbnailRequest } from "./parameters.ts";

/** A picture as JSON (contract, thumbnail JSON result). */
export const thumbnailSchema = () =>
  z.object({
    mime_type: z.string(),
    base64: z.string(),
    width: z.int(),
    height: z.int(),
  });

/** The schema of a binary picture. */
const PICTURE = { type: "string", contentEncoding: "binary" };

/** Schemas of pictures and PDFs by their media types. */
export const PICTURES = {
  "image/jpeg": PICTURE,
  "image/png": PICTURE,
  "image/webp": PICTURE,
  "application/pdf": PICTURE,
};

/** `GET /v1/thumbs/`: a screenshot of a page, as an image, a PDF or JSON (contract, GET /v1/thumbs/). */
export const thumbnail = open({
  method: "GET",
  path: "/v1/thumbs",
  summary: "Screenshot or PDF of a web page",
  lenientQuery: thumbnailQuerySchema,
  answers: () => ({
    ...PICTURES,
    "application/json": thumbnailSchema(),
  }),
  accepted: json(jobSchema),
  headers: THUMBNAIL_HEADERS,
  statuses: THUMBNAIL_STATUSES,
  handler: rateLimited(async (context, call) => {
    const request = readThumbnailRequest(call.query, context.platform.variables.pages);
    if (wantsJob(context)) return startJob(context, call, "thumbs", [oneTask(call.query)]);
    const answer = await thumbnailAnswer({ ...context, client: call.client }, request, call.admitted);
    return answerResponse(context, answer, request.freshness);
  }),
});

/** `POST /v1/thumbs`: screenshots of several pages, as a job (contract, jobs). */
export const thumbnailBatch = open({
  method: "POST",
  path: "/v1/thumbs",
  summary: "Screenshots of several web pages, as a job",
  body: thumbnailBatchSchema,
  lenientQuery: batchQuerySchema,
  maxBody: MAX_BATCH_BYTES,
  answers: () => ({}),
  accepted: json(jobSchema),
  headers: BATCH_HEADERS,
  statuses: BATCH_STATUSES,
  unreadable: refuseBatch,
  handler: (context, { body }) =>
    startBatch(context, "thumbs", body, (query) =>
      readThumbnailRequest(query, context.platform.variables.pages),
    ),
});

/**
 * Returns a picture, from the cache or from a new capture, in the requested form.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
export async function thumbnailAnswer(
  work: PageWork,
  request: ThumbnailRequest,
  admitted: Promise<void>,
): Promise<KeptAnswer> {
  const key = await cacheKey(work, "thumbs", request.options);
  const answer = await keptOrMade(work, key, request.freshness, admitted, () =>
    capture(work, request.options),
  );
  return request.output === "json" ? asJson(answer, request) : answer;
}

async function capture({ platform, client }: PageWork, options: ThumbnailOptions): Promise<MadeAnswer> {
  const { pages, now } = platform;
  if (pages.browser === null) throw browserUnavailable();
  const captured = await pages.browser.capture(options, client);
  const { body, headers } =
    captured.kind === "print" ? printed(captured, options) : await drawn(pages, captured, options);
  return {
    body,
    headers: { ...headers, ...pageHeaders(captured) },
    madeAt: now(),
    lifetime: lifetimeOf(captured),
  };
}

type Made = Pick<MadeAnswer, "body" | "headers">;

async function drawn(
  pages: PagesPlatform,
  { plan, cutAt, cutWidthAt, finished, bytes }: PictureOutcome,
  { format, quality, transparent }: ThumbnailOptions,
): Promise<Made> {
  const { output, scale } = plan;
  const make = async () => {
    const maker = await imageMaker(pages);
    return maker.make(bytes, output, format, quality, Math.ceil(scale), transparent);
  };
  return {
    body: finished ? bytes : await make(),
    headers: {
      ...typeAndSize(`image/${format}`, output),
      ...(cutAt !== null && { "x-page-cut-at": String(cutAt) }),
      ...(cutWidthAt !== null && { "x-page-cut-at-width": String(cutWidthAt) }),
    },
  };
}

function printed({ bytes, sheets, isCut }: PrintOutcome, { sheet }: ThumbnailOptions): Made {
  const { width, height } = sheet ?? { width: 0, height: 0 };
  return {
    body: bytes,
    headers: {
      ...typeAndSize("application/pdf", { width: Math.round(width * 96), height: Math.round(height * 96) }),
      ...(sheets > 0 && { "x-page-sheets": String(sheets) }),
      ...(isCut && { "x-page-cut-at-sheet": String(sheets) }),
    },
  };
}

function typeAndSize(type: string, { width, height }: Size): Record<string, string> {
  return { "content-type": type, "x-image-width": String(width), "x-image-height": String(height) };
}

/** An image as JSON (contract, thumbnail JSON result). */
function asJson(image: KeptAnswer, { prettify }: ThumbnailRequest): KeptAnswer {
  const { headers } = image;
  const type = { ...headers, "content-type": "application/json" };
  return inForm(image, prettify ? "pretty" : "json", type, (bytes) => {
    const result = {
      mime_type: headers["content-type"],
      base64: toBase64(bytes),
      width: Number(headers["x-image-width"]),
      height: Number(headers["x-image-height"]),
    };
    const text = JSON.stringify(result, null, prettify ? 2 : 0);
    return toUtf8(prettify ? `${text}\n` : text);
  });
}

const makers = new WeakMap<PagesPlatform, Promise<ImageMaker>>();

function imageMaker(pages: PagesPlatform): Promise<ImageMaker> {
  const maker = makers.get(pages) ?? pages.codecs().then((modules) => new ImageMaker(modules));
  makers.set(pages, maker);
  return maker;
}
