import * as z from "zod";
import {
  type RouteModels,
  readModelRoute,
  type StoredRoute,
  toStoredRoute,
} from "../../core/config/model-route.ts";
import {
  routeSchema,
  routeTargetSchema,
  UNUSED_WEIGHTS,
  usesItsWeights,
} from "../../core/config/route-schema.ts";
import type { Config } from "../../core/config/schema.ts";
import { ROUTE_STRATEGIES, type RouteStrategy } from "../../core/conversation/route-strategy.ts";
import { once } from "../../core/encoding/lazy-schema.ts";
import { isDotSegment } from "../../core/encoding/path-segment.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { routeModelsSchema, routeNameSchema } from "./aliases.ts";
import { successSchema } from "./answers.ts";
import { editConfig } from "./config-edit.ts";
import { ENTRY_HEADERS, entryEtag, formatEtag, IF_MATCH, VERSION_HEADERS } from "./etag.ts";
import { requestObject } from "./request-fields.ts";
import { conflictError, requireFound } from "./resource-errors.ts";

type Routes = Config["model_routes"];

const routeViewSchema = () =>
  z.object({ name: z.string(), models: routeSchema(routeTargetSchema), strategy: z.enum(ROUTE_STRATEGIES) });

/** A route as administrators see it. */
const describeRoute = (name: string, route: StoredRoute) => {
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

/** Returns a stored route. Throws 404 for an unknown name. */
function getRoute({ model_routes }: Pick<Config, "model_routes">, name: string): Routes[string] {
  return requireFound(Object.hasOwn(model_routes, name) ? model_routes[name] : undefined, "the route", name);
}

/** Throws 409 if another route has the name. Names of models do not distinguish case. */
function assertNameIsFree(routes: Routes, name: string, except?: string): void {
  const isTaken = Object.keys(routes).some(
    (other) => other !== except && other.toLowerCase() === name.toLowerCase(),
  );
  if (isTaken) throw conflictError("a route with this name", "name");
}

/** The response with a route and its entity tag. */
async function routeResponse(config: Config, name: string): Promise<Response> {
  const route = describeRoute(name, getRoute(config, name));
  return Response.json(route, { headers: { etag: await entryEtag(config, route) } });
}

/** Creates a function that finds the stored entry of a route, with its name. */
const createRouteFinder = (name: string) => (config: Config) => describeRoute(name, getRoute(config, name));

/** Model routes, one by one. `PUT /admin/settings` replaces all of them. */
export const MODEL_ROUTE_ENDPOINTS = [
  adminEndpoint({
    method: "GET",
    path: "/admin/routes",
    summary: "List the model routes",
    answers: jsonResponse(() => z.object({ items: z.array(routeViewSchema()), total: z.int() })),
    handler: async ({ platform }) => {
      const { model_routes } = (await platform.configuration.readFresh()).config;
      const items = Object.entries(model_routes).map(([name, route]) => describeRoute(name, route));
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
      const { config } = await editConfig(context, (current) => {
        assertNameIsFree(current.model_routes, name);
        return { ...current, model_routes: { ...current.model_routes, [name]: route } };
      });
      return routeResponse(config, name);
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
      const change = (current: Config) => {
        const present = readModelRoute(getRoute(current, name));
        const route = toCheckedRoute(body.models ?? present.models, body.strategy ?? present.strategy);
        assertNameIsFree(current.model_routes, newName, name);
        const routes = Object.entries(current.model_routes).map(([other, targets]) =>
          other === name ? ([newName, route] as const) : ([other, targets] as const),
        );
        return { ...current, model_routes: Object.fromEntries(routes) };
      };
      const { config } = await editConfig(context, change, { entry: createRouteFinder(name) });
      return routeResponse(config, newName);
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
      const remove = (current: Config) => {
        getRoute(current, name);
        const routes = Object.entries(current.model_routes).filter(([other]) => other !== name);
        return { ...current, model_routes: Object.fromEntries(routes) };
      };
      const { config, version } = await editConfig(context, remove, {
        keep: true,
        entry: createRouteFinder(name),
      });
      const body = { success: true, total_routes: Object.keys(config.model_routes).length };
      return Response.json(body, { headers: { etag: formatEtag(version) } });
    },
  }),
] satisfies readonly Endpoint[];
