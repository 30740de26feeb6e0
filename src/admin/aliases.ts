import * as z from "zod";
import { catalogueModel } from "../models/catalogue.ts";

/** Requested name → canonical model. A target that no model has is refused: requests for it would fail. */
export const aliasesSchema = z.record(
  z.string().trim().min(1, "a model name must not be empty"),
  z
    .string()
    .trim()
    .refine((target) => catalogueModel(target) !== undefined, {
      error: (issue) => `${JSON.stringify(issue.input)} is not a canonical model`,
    }),
);
