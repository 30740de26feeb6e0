import * as z from "zod";
import type { CredentialSource } from "../auth/callers.ts";
import type { JsonObject } from "../encoding/json.ts";
import { once } from "../encoding/lazy-schema.ts";
import { VERSION } from "../version.ts";
import { getAliasForms } from "./alias-forms.ts";
import { respondWithinBudget } from "./budgeted-response.ts";
import { type Access, type Endpoint, openEndpoint, type ResponseSchemas } from "./endpoint.ts";
import { listRoutes, type Route, type RouteFamily, type RouteGroup } from "./route-group.ts";

const string = { type: "string" };

/** A credential source as a security scheme: its name in the document, and the scheme. */
function callerScheme(source: CredentialSource): [string, JsonObject] {
  if (source.in === "bearer") {
    return [
      "bearer",
      { type: "http", scheme: "bearer", description: "An API key, or the provider's own token." },
    ];
  }
  return [`${source.in} ${source.name}`.replaceAll(/\W/g, "-"), { type: "apiKey", ...source }];
}

const ADMIN_SCHEMES: JsonObject = {
  admin: { type: "http", scheme: "bearer", description: "A token from POST /admin/login, or the admin key." },
  token: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A token from POST /admin/login.",
  },
};

type SchemaDirection = "input" | "output";

function jsonSchema(schema: z.ZodType | JsonObject, io: SchemaDirection): JsonObject {
  if (!(schema instanceof z.ZodType)) return schema;
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema: converted }) =>
      addAliasForms(getAliasForms(zodSchema), converted, io),
  });
  return rest;
}

/** Extends the JSON schema of a value's canonical form to all accepted forms. */
function addAliasForms(
  forms: readonly z.ZodType[],
  converted: Record<string, unknown>,
  io: SchemaDirection,
): void {
  if (forms.length === 0) return;
  const own = { ...converted };
  for (const keyword of Object.keys(own)) delete converted[keyword];
  converted["anyOf"] = [own, ...forms.map((form) => jsonSchema(form, io))];
}

/** Converts `/a/:b/:c+` with the verb `d` to `/a/{b}/{c}:d`, and lists the parameter names. */
function toPathTemplate(
  path: string,
  verb: string | undefined,
): { template: string; names: readonly string[] } {
  const names: string[] = [];
  const template = path.replaceAll(/:(\w+)\+?/g, (_, name: string) => {
    names.push(name);
    return `{${name}}`;
  });
  return { template: verb === undefined ? template : `${template}:${verb}`, names };
}

function queryParameters(schema: z.ZodType | undefined): JsonObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: property,
  }));
}

function bodyOf(endpoints: readonly Endpoint[]): JsonObject | undefined {
  const schemas = endpoints.flatMap(({ body, streamedBody }): (readonly [string, JsonObject])[] => {
    if (streamedBody !== undefined) return [[streamedBody.mediaType, streamedBody.schema]];
    return body === undefined ? [] : [["application/json", jsonSchema(body, "input")]];
  });
  if (schemas.length === 0) return undefined;
  return {
    required: endpoints.every(({ optionalBody }) => optionalBody !== true),
    content: contentOf(schemas),
  };
}

/** The content of a body, by media type. Several schemas of one type become `anyOf`. */
function contentOf(schemas: readonly (readonly [mediaType: string, schema: JsonObject])[]): JsonObject {
  const content: Record<string, unknown> = {};
  for (const [mediaType, found] of Map.groupBy(schemas, ([type]) => type)) {
    const [first, ...others] = found.map(([, schema]) => schema);
    content[mediaType] = { schema: others.length === 0 ? first : { anyOf: [first, ...others] } };
  }
  return content;
}

function answersOf(answers: readonly ResponseSchemas[], headers: JsonObject): JsonObject {
  const schemas = answers.flatMap((made) =>
    Object.entries(made()).map(([mediaType, schema]) => [mediaType, jsonSchema(schema, "output")] as const),
  );
  const described = Object.keys(headers).length === 0 ? {} : { headers };
  return { description: "The answer.", ...described, content: contentOf(schemas) };
}

function headersOf(endpoints: readonly Endpoint[]): JsonObject {
  const named = endpoints.flatMap(({ headers = {} }) => Object.entries(headers));
  return Object.fromEntries(named.map(([name, description]) => [name, { description, schema: string }]));
}

/** The responses for an endpoint's declared statuses. */
function statusesOf(endpoints: readonly Endpoint[], errors: JsonObject): JsonObject {
  const told = endpoints.flatMap(({ statuses = {} }) => Object.entries(statuses));
  return Object.fromEntries(
    told.map(([status, description]) => [
      status,
      Number(status) < 400 ? { description } : { ...errors, description },
    ]),
  );
}

function errorsOf(families: readonly RouteFamily[]): JsonObject {
  const [first, ...others] = new Set(families);
  if (first !== undefined && others.length === 0) return { $ref: `#/components/responses/${first.id}` };
  const schemas = [...new Set(families)].map(({ errorSchema }) => ["application/json", errorSchema] as const);
  return { description: "An error.", content: contentOf(schemas) };
}

type Security = Readonly<Record<Access, readonly JsonObject[]>>;

/** Removes parameters with repeated names; the first one stays. */
function removeDuplicateParameters(parameters: readonly JsonObject[]): JsonObject[] {
  const byName = new Map<unknown, JsonObject>();
  for (const parameter of parameters) {
    if (!byName.has(parameter["name"])) byName.set(parameter["name"], parameter);
  }
  return [...byName.values()];
}

/** The operation of one method and path. Where several styles share it, `main` is the one without a condition. */
function buildOperation(main: Route, all: readonly Route[], security: Security): JsonObject {
  const { path, tag } = main;
  const { method, access, summary, verb } = main.endpoint;
  const { template, names } = toPathTemplate(path, verb);
  const endpoints = all.map(({ endpoint }) => endpoint);
  const inPath = names.map((name) => ({ name, in: "path", required: true, schema: string }));
  const inQuery = endpoints.flatMap(({ query, lenientQuery }) => queryParameters(query ?? lenientQuery));
  const parameters = removeDuplicateParameters([...inPath, ...inQuery]);
  const requestBody = bodyOf(endpoints);
  const headers = headersOf(endpoints);
  const answers = endpoints.map((endpoint) => endpoint.answers);
  const accepted = endpoints.flatMap((endpoint) => endpoint.accepted ?? []);
  // An operation that always continues after its response has no 200.
  const isDone = accepted.length === 0 || answers.some((made) => Object.keys(made()).length > 0);
  const errors = errorsOf(all.map(({ family }) => family));
  return {
    operationId: `${method.toLowerCase()}${template.replaceAll(/[^\w]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [tag],
    security: security[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...(isDone && { "200": answersOf(answers, headers) }),
      ...(accepted.length > 0 && { "202": answersOf(accepted, headers) }),
      ...statusesOf(endpoints, errors),
      default: errors,
    },
  };
}

function errorResponseOf({ id, errorSchema }: RouteFamily): [string, JsonObject] {
  return [id, { description: "An error.", content: { "application/json": { schema: errorSchema } } }];
}

/** The OpenAPI 3.1 document of some route groups, generated from the schemas that validate their requests. */
export function buildOpenApiDocument(surfaces: readonly RouteGroup[]): JsonObject {
  const callerSchemes = new Map(
    surfaces.flatMap(({ credentials = [] }) => credentials.map((source) => callerScheme(source))),
  );
  const security: Security = {
    none: [],
    caller: [...callerSchemes.keys()].map((name) => ({ [name]: [] })),
    admin: [{ admin: [] }],
    token: [{ token: [] }],
  };
  const paths: Record<string, Record<string, unknown>> = {};
  const operations = Map.groupBy(listRoutes(surfaces), ({ path, endpoint }) => {
    const { template } = toPathTemplate(path, endpoint.verb);
    return `${endpoint.method.toLowerCase()} ${template}`;
  });
  for (const [name, routes] of operations) {
    const [method = "", template = ""] = name.split(" ");
    const main = routes.at(-1);
    if (main !== undefined)
      paths[template] = { ...paths[template], [method]: buildOperation(main, routes, security) };
  }
  const families = [...new Set(surfaces.map(({ family }) => family))];
  return {
    openapi: "3.1.0",
    info: {
      title: "Polygate",
      version: VERSION,
      description: "A model gateway and page service in one edge program.",
      license: { name: "GPL-3.0-or-later", identifier: "GPL-3.0-or-later" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(surfaces.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { ...Object.fromEntries(callerSchemes), ...ADMIN_SCHEMES },
      responses: Object.fromEntries(families.map(errorResponseOf)),
    },
  };
}

/** Declares `GET /openapi.json`. Reads the route groups lazily, because this endpoint belongs to one of them. */
export function openApiEndpoint(surfaces: () => Promise<readonly RouteGroup[]>): Endpoint {
  const text = once(async () => JSON.stringify(buildOpenApiDocument(await surfaces())));
  return openEndpoint({
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    answers: () => ({ "application/json": { type: "object" } }),
    handler: async (context) =>
      respondWithinBudget(context, await text(), {
        headers: { "content-type": "application/json", "access-control-allow-origin": "*" },
      }),
  });
}
