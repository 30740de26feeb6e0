import * as z from "zod";
import { modelRouteSchema } from "../config/schema.ts";
import { once } from "../encoding/lazy-schema.ts";

/** Requested name → the models that may answer, in order. */
export const routesSchema = once(() =>
  z.record(z.string().trim().min(1, "a model name must not be empty"), modelRouteSchema()),
);

/** Requested name → canonical model, or `provider/model`. Whether there is such a model is checked where they are stored. */
export const aliasesSchema = once(() =>
  z.record(z.string().trim().min(1, "a model name must not be empty"), z.string().trim()),
);
