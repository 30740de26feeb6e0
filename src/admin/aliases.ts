import * as z from "zod";

/** Requested name → canonical model, or `provider/model`. Whether there is such a model is checked where they are stored. */
export const aliasesSchema = z.record(
  z.string().trim().min(1, "a model name must not be empty"),
  z.string().trim(),
);
