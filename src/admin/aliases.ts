import * as z from "zod";
import { routeOf, routeTargetSchema } from "../config/schema.ts";
import { once } from "../encoding/lazy-schema.ts";
import { sentObject, strangerWithin } from "./sent-fields.ts";

/** Requested name → the models that may answer, in order. A field of a target that there is not is refused. */
export const routesSchema = once(() =>
  z.record(
    z.string().trim().min(1, "a model name must not be empty"),
    routeOf(
      sentObject(() => routeTargetSchema.shape),
      strangerWithin,
    ),
  ),
);

/** Requested name → canonical model, or `provider/model`. Whether there is such a model is checked where they are stored. */
export const aliasesSchema = once(() =>
  z.record(z.string().trim().min(1, "a model name must not be empty"), z.string().trim()),
);
