import * as z from "zod";
import type { RouteFamily } from "../errors/gateway-error.ts";
import type { Handler } from "../platform/context.ts";
import { VERSION } from "../version.ts";
import type { Access, Route } from "./router.ts";

type Json = Readonly<Record<string, unknown>>;

const object = (properties: Json, required: readonly string[] = Object.keys(properties)): Json => ({
  type: "object",
  properties,
  required,
});
const string = { type: "string" };
const nullableString = { type: ["string", "null"] };

const ERROR_OBJECT = object({ message: string, type: string, code: string, param: nullableString });

/** The error body of each family of routes (contract, Errors). */
const ERRORS: Readonly<Record<RouteFamily, Json>> = {
  chat: object({ error: ERROR_OBJECT }),
  messages: object({ type: { const: "error" }, error: ERROR_OBJECT }),
  content: object({ error: object({ code: { type: "integer" }, message: string, status: string }) }),
  runner: object({ error: string }),
  admin: object({ detail: string }),
  page: object({ error: ERROR_OBJECT }),
};

const TAGS: Readonly<Record<RouteFamily, string>> = {
  chat: "Chat completions and responses style",
  messages: "Message style",
  content: "Content-generation style",
  runner: "Local-model-runner style",
  admin: "Administration",
  page: "Page service",
};

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "An API key, or the provider's own token." },
  key: { type: "apiKey", in: "header", name: "x-api-key" },
  contentKey: { type: "apiKey", in: "header", name: "x-goog-api-key" },
  queryKey: { type: "apiKey", in: "query", name: "key" },
  admin: { type: "http", scheme: "bearer", description: "A token from POST /admin/login, or the admin key." },
  token: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A token from POST /admin/login.",
  },
};

const SECURITY: Readonly<Record<Access, readonly Json[]>> = {
  none: [],
  caller: [{ bearer: [] }, { key: [] }, { contentKey: [] }, { queryKey: [] }],
  admin: [{ admin: [] }],
  jwt: [{ token: [] }],
};

/** What a request may hold, as the schema that checks it says. */
function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}

/** `/a/:b/:c+` as `/a/{b}/{c}`, with the names. */
function templateOf(path: string): { readonly template: string; readonly names: readonly string[] } {
  const names: string[] = [];
  const template = path.replaceAll(/:(\w+)\+?/g, (_, name: string) => {
    names.push(name);
    return `{${name}}`;
  });
  return { template, names };
}

function queryParameters(schema: z.ZodType | undefined): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: property,
  }));
}

function bodyOf({ method, path, body }: Route): Json | undefined {
  if (method !== "POST" && method !== "PUT") return undefined;
  if (body !== undefined) {
    return { required: true, content: { "application/json": { schema: jsonSchema(body) } } };
  }
  if (path.endsWith("/files")) {
    const file = { type: "string", contentMediaType: "application/octet-stream" };
    const schema = object({ file, purpose: string }, ["file"]);
    return { required: true, content: { "multipart/form-data": { schema } } };
  }
  return { content: { "application/json": { schema: { type: "object" } } } };
}

function operation(route: Route, template: string, names: readonly string[]): Json {
  const { method, family, access, summary } = route;
  const path = names.map((name) => ({ name, in: "path", required: true, schema: string }));
  const parameters = [...path, ...queryParameters(route.query)];
  const requestBody = bodyOf(route);
  return {
    operationId: `${method.toLowerCase()}${template.replaceAll(/[^\w]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [TAGS[family]],
    security: SECURITY[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      "200": { description: "The answer." },
      default: { $ref: `#/components/responses/${family}` },
    },
  };
}

/** The OpenAPI 3.1 document of some routes, made from the schemas that check their requests. */
export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const { template, names } = templateOf(route.path);
    const methods = paths[template] ?? {};
    methods[route.method.toLowerCase()] = operation(route, template, names);
    paths[template] = methods;
  }
  const errors = Object.entries(ERRORS).map(([family, schema]) => [
    family,
    { description: "An error.", content: { "application/json": { schema } } },
  ]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Polygate",
      version: VERSION,
      description: "A model gateway and page service in one edge program.",
      license: { name: "GPL-3.0-or-later", identifier: "GPL-3.0-or-later" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(Object.values(TAGS))].map((name) => ({ name })),
    paths,
    components: { securitySchemes: SECURITY_SCHEMES, responses: Object.fromEntries(errors) },
  };
}

/** `GET /openapi.json`. The routes are asked for late, as this handler is one of theirs. */
export function openApi(routes: () => readonly Route[]): Handler {
  let text: string | undefined;
  return () => {
    text ??= JSON.stringify(openApiDocument(routes()));
    return new Response(text, {
      headers: { "content-type": "application/json", "access-control-allow-origin": "*" },
    });
  };
}
