import * as z from "zod";
import { incompleteSchema } from "../http/query-schemas.ts";

/** The forms of a page's content. */
export const CONTENT_FORMATS = ["html", "markdown", "text"] as const;

/** The content of a page (docs/page-contract.md, Content result). */
export const contentSchema = () =>
  z.object({
    /** The final URL. */
    url: z.string(),
    /** The URL as requested, with its scheme completed. */
    originalUrl: z.string(),
    format: z.enum(CONTENT_FORMATS),
    content: z.string(),
    /** For each of `elements`, what matches. */
    data: z.array(
      z.object({
        selector: z.string(),
        results: z.array(
          z.object({
            text: z.string(),
            html: z.string(),
            attributes: z.record(z.string(), z.string()),
          }),
        ),
      }),
    ),
    ...incompleteSchema(),
  });

export type ContentResult = z.output<ReturnType<typeof contentSchema>>;
