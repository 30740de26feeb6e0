import * as z from "zod";
import { incompleteSchema } from "../http/query-schemas.ts";

export const technologiesSchema = () =>
  z.object({
    url: z.string(),
    originalUrl: z.string(),
    applications: z.array(
      z.object({
        name: z.string(),
        confidence: z.string(),
        version: z.string(),
        icon: z.string(),
        website: z.string(),
        categories: z.array(z.string()),
      }),
    ),
    ...incompleteSchema(),
  });
