import * as z from "zod";
import {
  routeSchema,
  routeTargetSchema,
  strategicRouteSchema,
  UNUSED_WEIGHTS,
  usesItsWeights,
} from "../../../core/config/schemas/route-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { isReservedName } from "../../../core/encoding/reserved-name.ts";
import { WILDCARD } from "../../../gateway/models/configured-models.ts";
import { requestObject, unknownFieldInUnion } from "../request-fields.ts";

/** The models that may answer, in order. An unknown field of a target is an error. */
export const routeModelsSchema = once(() =>
  routeSchema(
    requestObject(() => routeTargetSchema.shape),
    unknownFieldInUnion,
  ),
);

const requestedName = () =>
  z
    .string()
    .trim()
    .min(1, "a model name must not be empty")
    .refine((name) => !isReservedName(name), "this name is not possible");

/** The name of a route, which may have one wildcard. */
export const routeNameSchema = once(() =>
  requestedName().refine((name) => name.split(WILDCARD).length <= 2, "the name of a route has at most one *"),
);

/** Requested name → the models that may answer, alone or with a strategy. */
export const routesSchema = once(() => {
  const strategic = strategicRouteSchema(routeModelsSchema()).strict().refine(usesItsWeights, UNUSED_WEIGHTS);
  const route = z.union([routeModelsSchema(), strategic], { error: unknownFieldInUnion });
  return z.record(routeNameSchema(), route);
});

/** Requested name → canonical model, `provider/model`, or the name of a route. The edit checks that the model exists. */
export const aliasesSchema = once(() =>
  z.record(
    requestedName().refine(
      (name) => !name.includes(WILDCARD),
      "an alias is one name: use a route for a * in it",
    ),
    z.string().trim(),
  ),
);
