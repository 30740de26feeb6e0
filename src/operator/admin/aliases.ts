import * as z from "zod";
import { routeSchema, routeTargetSchema } from "../../core/config/schema.ts";
import { once } from "../../core/encoding/lazy-schema.ts";
import { requestObject, unknownFieldInUnion } from "./request-fields.ts";

/** The models that may answer, in order. An unknown field of a target is an error. */
export const routeModelsSchema = once(() =>
  routeSchema(
    requestObject(() => routeTargetSchema.shape),
    unknownFieldInUnion,
  ),
);

/** Requested name → the models that may answer. */
export const routesSchema = once(() =>
  z.record(z.string().trim().min(1, "a model name must not be empty"), routeModelsSchema()),
);

/** Requested name → canonical model, or `provider/model`. The edit checks that the model exists. */
export const aliasesSchema = once(() =>
  z.record(z.string().trim().min(1, "a model name must not be empty"), z.string().trim()),
);
