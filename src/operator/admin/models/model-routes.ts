import * as z from "zod";
import {
  type RouteModels,
  readModelRoute,
  type StoredRoute,
  toStoredRoute,
} from "../../../core/config/model-route.ts";
import type { Config } from "../../../core/config/schema.ts";
import {
  routeSchema,
  routeTargetSchema,
  UNUSED_WEIGHTS,
  usesItsWeights,
} from "../../../core/config/schemas/route-schema.ts";
import { ROUTE_STRATEGIES, type RouteStrategy } from "../../../core/conversation/route-strategy.ts";
import { once } from "../../../core/encoding/once.ts";
import { isDotSegment } from "../../../core/encoding/path-segment.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { addEntry, changeEntry, deleteEntry, type EntryList, isIdTaken } from "../editing/entry-list.ts";
import { ENTRY_HEADERS, entryResponse, IF_MATCH, VERSION_HEADERS } from "../etag.ts";
import { requestObject } from "../request-fields.ts";
import { conflictError, requireFound } from "../resource-errors.ts";
import { routeModelsSchema, routeNameSchema } from "./aliases.ts";

/** A route as the configuration has it, with its name. */
interface NamedRoute {
  readonly name: string;
  readonly route: StoredRoute;
}

const routeViewSchema = () =>
  z.object({ name: z.string(), models: routeSchema(routeTargetSchema), strategy: z.enum(ROUTE_STRATEGIES) });

/** A route as administrators see it. */
const describeRoute = ({ name, route }: NamedRoute) => {
  const { models, strategy } = readModelRoute(route);
  return { name, models, strategy };
};

const routeName = once(() =>
  routeNameSchema().refine((name) => !isDotSegment(name), "this name means something else in an address"),
);

/** Body of `POST /admin/routes`. */
const newRouteSchema = requestObject(() => ({
  name: routeName(),
  models: routeModelsSchema(),
  strategy: z.enum(ROUTE_STRATEGIES).default("order"),
}));

/** Body of `PUT /admin/routes/{name}`. Omitted fields keep their values; another `name` renames the route. */
const routeChangeSchema = requestObject(() => ({
  name: routeName().optional(),
  models: routeModelsSchema().optional(),
  strategy: z.enum(ROUTE_STRATEGIES).optional(),
}));

/**
 * Returns a route as it is stored.
 *
 * @throws GatewayError 400 for weights that the strategy does not use
 */
function toCheckedRoute(models: RouteModels, strategy: RouteStrategy): StoredRoute {
  if (!usesItsWeights({ strategy, models })) throw invalidRequest(`models: ${UNUSED_WEIGHTS}`, "models");
  return toStoredRoute(models, strategy);
}

/** Names of models do not distinguish case. */
const ROUTES: EntryList<NamedRoute> = {
  read: ({ model_routes }) => Object.entries(model_routes).map(([name, route]) => ({ name, route })),
  write: (config, routes) => ({
    ...config,
    model_routes: Object.fromEntries(routes.map(({ name, route }) => [name, route])),
  }),
  getId: ({ name }) => name,
  find: ({ model_routes }, name) => {
    const route = Object.hasOwn(model_routes, name) ? model_routes[name] : undefined;
    return { name, route: requireFound(route, "the route", name) };
  },
  createConflict: () => conflictError("a route with this name", "name"),
  ignoresCase: true,
};

/** The response with a route and its entity tag. */
function routeResponse(config: Config, name: string): Promise<Response> {
  const entry = ROUTES.find(config, name);
  return entryResponse(config, entry, describeRoute(entry));
}

/** Model routes, one by one. `PUT /admin/settings` replaces all of them. */
export const MODEL_ROUTE_ENDPOINTS = [
  adminEndpoint({
    method: "GET",
    path: "/admin/routes",
    summary: "List the model routes",
    answers: jsonResponse(() => z.object({ items: z.array(routeViewSchema()), total: z.int() })),
    handler: async ({ platform }) => {
      const { config } = await platform.configuration.readFresh();
      const items = ROUTES.read(config).map(describeRoute);
      return Response.json({ items, total: items.length });
    },
  }),
  adminEndpoint({
    method: "POST",
    path: "/admin/routes",
    summary: "Add a model route",
    body: newRouteSchema,
    answers: jsonResponse(routeViewSchema),
    ...ENTRY_HEADERS,
    handler: async (context, { body: { name, models, strategy } }) => {
      const route = toCheckedRoute(models, strategy);
      return routeResponse(await addEntry(context, ROUTES, { name, route }), name);
    },
  }),
  adminEndpoint({
    method: "GET",
    path: "/admin/routes/:name",
    summary: "Read a model route",
    answers: jsonResponse(routeViewSchema),
    ...ENTRY_HEADERS,
    handler: async ({ platform }, { params: { name = "" } }) =>
      routeResponse((await platform.configuration.readFresh()).config, name),
  }),
  adminEndpoint({
    method: "PUT",
    path: "/admin/routes/:name",
    summary: "Change a model route",
    body: routeChangeSchema,
    answers: jsonResponse(routeViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { name = "" }, body }) => {
      const newName = body.name ?? name;
      const change = ({ route: stored }: NamedRoute, current: Config): NamedRoute => {
        const present = readModelRoute(stored);
        const route = toCheckedRoute(body.models ?? present.models, body.strategy ?? present.strategy);
        const others = ROUTES.read(current).filter((other) => other.name !== name);
        if (isIdTaken(ROUTES, others, newName)) throw ROUTES.createConflict(newName);
        return { name: newName, route };
      };
      return routeResponse(await changeEntry(context, ROUTES, name, change), newName);
    },
  }),
  adminEndpoint({
    method: "DELETE",
    path: "/admin/routes/:name",
    summary: "Delete a model route",
    answers: jsonResponse(() => successSchema().extend({ total_routes: z.int() })),
    ...VERSION_HEADERS,
    ...IF_MATCH,
    handler: async (context, { params: { name = "" } }) => {
      const { total, headers } = await deleteEntry(context, ROUTES, name);
      return Response.json({ success: true, total_routes: total }, { headers });
    },
  }),
] satisfies readonly Endpoint[];
