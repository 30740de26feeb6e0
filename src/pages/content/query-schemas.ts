import * as z from "zod";
import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { MAX_SELECTOR, momentParameters } from "../http/moment-parameters.ts";
import { commonParameters } from "../http/query-schemas.ts";
import { CONTENT_FORMATS } from "./result.ts";

/** Maximum number of `elements`. */
export const MAX_ELEMENTS = 20;

/** Query of `GET /v1/content`. */
export const contentQuerySchema = lazyObject(() => ({
  ...commonParameters(),
  ...momentParameters(),
  format: z.enum(CONTENT_FORMATS).default("html"),
  selector: z.string().max(MAX_SELECTOR).optional().describe("CSS selector of the only element to read."),
  elements: z
    .array(z.string().max(MAX_SELECTOR))
    .max(MAX_ELEMENTS)
    .optional()
    .describe("CSS selector of elements whose text, HTML and attributes are wanted as data."),
  output: z.enum(["raw", "json"]).default("json").describe("raw: only the content, as plain text."),
}));
