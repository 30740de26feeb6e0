import * as z from "zod";
import type { CredentialSource } from "../auth/callers.ts";
import type { JsonObject } from "../encoding/json.ts";
import { once } from "../encoding/once.ts";
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
  const { in: place, name } = source;
  return [`${place} ${name}`.replaceAll(/\W/g, "-"), { type: "apiKey", in: place, name }];
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

function convertSchema(schema: z.ZodType | JsonObject, io: SchemaDirection): JsonObject {
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
  const canonical = { ...converted };
  for (const keyword of Object.keys(canonical)) delete converted[keyword];
  converted["anyOf"] = [canonical, ...forms.map((form) => convertSchema(form, io))];
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

function buildRequestBody(endpoints: readonly Endpoint[]): JsonObject | undefined {
  const schemas = endpoints.flatMap(({ body, streamedBody }): (readonly [string, JsonObject])[] => {
    if (streamedBody !== undefined) return [[streamedBody.mediaType, streamedBody.schema]];
    return body === undefined ? [] : [["application/json", convertSchema(body, "input")]];
  });
  if (schemas.length === 0) return undefined;
  return {
    required: endpoints.every(({ optionalBody }) => optionalBody !== true),
    content: buildContent(schemas),
  };
}

/** The content of a body, by media type. Several schemas of one type become `anyOf`. */
function buildContent(schemas: readonly (readonly [mediaType: string, schema: JsonObject])[]): JsonObject {
  const content: Record<string, unknown> = {};
  for (const [mediaType, group] of Map.groupBy(schemas, ([type]) => type)) {
    const [first, ...rest] = group.map(([, schema]) => schema);
    content[mediaType] = { schema: rest.length === 0 ? first : { anyOf: [first, ...rest] } };
  }
  return content;
}

function buildResponse(answers: readonly ResponseSchemas[], headers: JsonObject): JsonObject {
  const schemas = answers.flatMap((getSchemas) =>
    Object.entries(getSchemas()).map(
      ([mediaType, schema]) => [mediaType, convertSchema(schema, "output")] as const,
    ),
  );
  const described = Object.keys(headers).length === 0 ? {} : { headers };
  return { description: "The answer.", ...described, content: buildContent(schemas) };
}

function buildHeaders(endpoints: readonly Endpoint[]): JsonObject {
  const entries = endpoints.flatMap(({ headers = {} }) => Object.entries(headers));
  return Object.fromEntries(entries.map(([name, description]) => [name, { description, schema: string }]));
}

/** The responses for an endpoint's declared statuses. */
function buildStatuses(endpoints: readonly Endpoint[], errors: JsonObject): JsonObject {
  const entries = endpoints.flatMap(({ statuses = {} }) => Object.entries(statuses));
  return Object.fromEntries(
    entries.map(([status, description]) => [
      status,
      Number(status) < 400 ? { description } : { ...errors, description },
    ]),
  );
}

function buildErrors(families: readonly RouteFamily[]): JsonObject {
  const [first, ...rest] = new Set(families);
  if (first !== undefined && rest.length === 0) return { $ref: `#/components/responses/${first.id}` };
  const schemas = [...new Set(families)].map(({ errorSchema }) => ["application/json", errorSchema] as const);
  return { description: "An error.", content: buildContent(schemas) };
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

const IDEMPOTENCY_KEY =
  "A key of the caller's choice. A repeated request with the same key gets the first one's answer for 24 hours.";

function describeRequestHeaders({ requestHeaders = {}, acceptsIdempotencyKey }: Endpoint) {
  return acceptsIdempotencyKey === true
    ? { ...requestHeaders, "idempotency-key": IDEMPOTENCY_KEY }
    : requestHeaders;
}

/** The operation of one method and path. Where several styles share it, `main` is the one without a condition. */
function buildOperation(main: Route, all: readonly Route[], security: Security): JsonObject {
  const { path, tag } = main;
  const { method, access, summary, verb } = main.endpoint;
  const { template, names } = toPathTemplate(path, verb);
  const endpoints = all.map(({ endpoint }) => endpoint);
  const inPath = names.map((name) => ({ name, in: "path", required: true, schema: string }));
  const inQuery = endpoints.flatMap(({ query, lenientQuery }) => queryParameters(query ?? lenientQuery));
  const inHeader = endpoints.flatMap((endpoint) =>
    Object.entries(describeRequestHeaders(endpoint)).map(([name, description]) => ({
      name,
      in: "header",
      description,
      schema: string,
    })),
  );
  const parameters = removeDuplicateParameters([...inPath, ...inQuery, ...inHeader]);
  const requestBody = buildRequestBody(endpoints);
  const headers = buildHeaders(endpoints);
  const answers = endpoints.map((endpoint) => endpoint.answers);
  const accepted = endpoints.flatMap((endpoint) => endpoint.accepted ?? []);
  // An operation that always continues after its response has no 200.
  const hasImmediateResponse =
    accepted.length === 0 || answers.some((getSchemas) => Object.keys(getSchemas()).length > 0);
  const errors = buildErrors(all.map(({ family }) => family));
  return {
    operationId: `${method.toLowerCase()}${template.replaceAll(/[^\w]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [tag],
    security: security[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...(hasImmediateResponse && { "200": buildResponse(answers, headers) }),
      ...(accepted.length > 0 && { "202": buildResponse(accepted, headers) }),
      ...buildStatuses(endpoints, errors),
      default: errors,
    },
  };
}

function buildErrorResponse({ id, errorSchema }: RouteFamily): [string, JsonObject] {
  return [id, { description: "An error.", content: { "application/json": { schema: errorSchema } } }];
}

/** The OpenAPI 3.1 document of some route groups, generated from the schemas that validate their requests. */
export function buildOpenApiDocument(groups: readonly RouteGroup[]): JsonObject {
  const callerSchemes = new Map(
    groups.flatMap(({ credentials = [] }) => credentials.map((source) => callerScheme(source))),
  );
  const security: Security = {
    none: [],
    caller: [...callerSchemes.keys()].map((name) => ({ [name]: [] })),
    admin: [{ admin: [] }],
    token: [{ token: [] }],
  };
  const paths: Record<string, Record<string, unknown>> = {};
  const operations = Map.groupBy(listRoutes(groups), ({ path, endpoint }) => {
    const { template } = toPathTemplate(path, endpoint.verb);
    return `${endpoint.method.toLowerCase()} ${template}`;
  });
  for (const [name, routes] of operations) {
    const [method = "", template = ""] = name.split(" ");
    const main = routes.at(-1);
    if (main !== undefined)
      paths[template] = { ...paths[template], [method]: buildOperation(main, routes, security) };
  }
  const families = [...new Set(groups.map(({ family }) => family))];
  return {
    openapi: "3.1.0",
    info: {
      title: "Polygate",
      version: VERSION,
      description: "A model gateway and a page service in one program.",
      license: { name: "GPL-3.0-or-later", identifier: "GPL-3.0-or-later" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(groups.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { ...Object.fromEntries(callerSchemes), ...ADMIN_SCHEMES },
      responses: Object.fromEntries(families.map(buildErrorResponse)),
    },
  };
}

/** Declares `GET /openapi.json`. Reads the route groups lazily, because this endpoint belongs to one of them. */
export function openApiEndpoint(getGroups: () => Promise<readonly RouteGroup[]>): Endpoint {
  const text = once(async () => JSON.stringify(buildOpenApiDocument(await getGroups())));
  return openEndpoint({
    method: "GET",
    path: "/openapi.json",
    summary: "This API as OpenAPI document",
    answers: () => ({ "application/json": { type: "object" } }),
    handler: async (context) =>
      respondWithinBudget(context, await text(), {
        headers: { "content-type": "application/json", "access-control-allow-origin": "*" },
      }),
  });
}
