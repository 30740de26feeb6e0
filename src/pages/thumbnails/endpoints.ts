import * as z from "zod";
import { toBase64, toUtf8 } from "../../encoding/bytes.ts";
import type { Context } from "../../platform/context.ts";
import type { ThumbnailOptions } from "../../platform/page-browser.ts";
import type { PagesPlatform } from "../../platform/pages.ts";
import { open } from "../../routing/endpoint.ts";
import { browserUnavailable } from "../browser/failures.ts";
import { answerResponse, cacheKey, type KeptAnswer, keptOrMade } from "../kept-answers.ts";
import { lifetimeOf, pageHeaders } from "../page-headers.ts";
import { thumbnailQuerySchema } from "../query-schemas.ts";
import { rateLimited } from "../rate-limit.ts";
import { ImageMaker } from "./images.ts";
import { readThumbnailRequest, type ThumbnailRequest } from "./parameters.ts";

const thumbnailSchema = () =>
  z.object({
    mime_type: z.string(),
    base64: z.string(),
    width: z.int(),
    height: z.int(),
  });

/** A picture as such. */
const PICTURE = { type: "string", contentEncoding: "binary" };

/** `GET /v1/thumbs/`: a screenshot of a page, as an image or as JSON (contract, GET /v1/thumbs/). */
export const thumbnail = open({
  method: "GET",
  path: "/v1/thumbs",
  summary: "Screenshot of a web page",
  lenientQuery: thumbnailQuerySchema,
  answers: () => ({
    "image/jpeg": PICTURE,
    "image/png": PICTURE,
    "image/webp": PICTURE,
    "application/json": thumbnailSchema(),
  }),
  handler: rateLimited(async (context, { query, client, admitted }) => {
    const request = readThumbnailRequest(query, context.platform.variables.pages);
    const key = await cacheKey(context, "thumbs", request.options);
    const answer = await keptOrMade(context, key, request.freshness, admitted, () =>
      capture(context, request.options, client),
    );
    return answerResponse(
      context,
      request.output === "json" ? asJson(answer, request) : answer,
      request.freshness,
    );
  }),
});

async function capture(context: Context, options: ThumbnailOptions, client: string): Promise<KeptAnswer> {
  const { pages, now } = context.platform;
  if (pages.browser === null) throw browserUnavailable();
  const captured = await pages.browser.capture(options, client);
  const { format, quality, transparent } = options;
  const { plan, cutAt } = captured;
  const body = captured.finished
    ? captured.bytes
    : await (await imageMaker(pages)).make(
        captured.bytes,
        plan.output,
        format,
        quality,
        Math.ceil(plan.scale),
        transparent,
      );
  return {
    body,
    headers: {
      "content-type": `image/${format}`,
      "x-image-width": String(plan.output.width),
      "x-image-height": String(plan.output.height),
      ...pageHeaders(captured),
      ...(cutAt !== null && { "x-page-cut-at": String(cutAt) }),
    },
    madeAt: now(),
    lifetime: lifetimeOf(captured),
    hit: false,
  };
}

/** The JSON that carries an image (contract, thumbnail JSON result). */
function asJson(image: KeptAnswer, { prettify }: ThumbnailRequest): KeptAnswer {
  const result = {
    mime_type: image.headers["content-type"],
    base64: toBase64(image.body),
    width: Number(image.headers["x-image-width"]),
    height: Number(image.headers["x-image-height"]),
  };
  const text = JSON.stringify(result, null, prettify ? 2 : 0);
  return {
    ...image,
    body: toUtf8(prettify ? `${text}\n` : text),
    headers: { ...image.headers, "content-type": "application/json" },
  };
}

const makers = new WeakMap<PagesPlatform, Promise<ImageMaker>>();

function imageMaker(pages: PagesPlatform): Promise<ImageMaker> {
  const maker = makers.get(pages) ?? pages.codecs().then((modules) => new ImageMaker(modules));
  makers.set(pages, maker);
  return maker;
}
