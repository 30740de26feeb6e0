import * as z from "zod";

/** A whole number of the query, pulled into the range from 1 to `max`; `fallback` for anything else, and for nothing. */
export const queryNumber = (fallback: number, max: number) =>
  z
    .string()
    .default("")
    .transform((text) => {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      return Math.min(Math.max(Math.floor(Number.isNaN(value) ? fallback : value), 1), max);
    });

/** One page of a list: `total` counts the entries of all pages. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    total: z.int(),
    page: z.int(),
    page_size: z.int(),
    total_pages: z.int(),
  });
