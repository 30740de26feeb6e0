import * as z from "zod";

/** Schema of a whole number in the query, clamped to 1…`max`. Missing and invalid values become `fallback`. */
export const queryNumber = (fallback: number, max: number) =>
  z
    .string()
    .default("")
    .transform((text) => {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      return Math.min(Math.max(Math.floor(Number.isNaN(value) ? fallback : value), 1), max);
    });

/** One page of a list. `total` counts the entries of all pages. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    total: z.int(),
    page: z.int(),
    page_size: z.int(),
    total_pages: z.int(),
  });
