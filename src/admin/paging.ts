import * as z from "zod";

/** A whole number of the query, pulled into the range from 1 to `max`; `fallback` for anything else. */
export const queryNumber = (fallback: number, max: number) =>
  z.coerce
    .number()
    .catch(fallback)
    .default(fallback)
    .transform((value) => Math.min(Math.max(Math.floor(value), 1), max));

/** One page of a list: `total` counts the entries of all pages. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    total: z.int(),
    page: z.int(),
    page_size: z.int(),
    total_pages: z.int(),
  });
