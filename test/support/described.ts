import { isObject, type JsonObject } from "../../src/core/encoding/json.ts";
import { GatewayError } from "../../src/core/errors/gateway-error.ts";
import { STANDARD_FAMILY } from "../../src/core/routing/error-formats.ts";
import { buildOpenApiDocument } from "../../src/core/routing/openapi.ts";
import { PathFamilies, type Route } from "../../src/core/routing/route-group.ts";
import { RouteTable } from "../../src/core/routing/router.ts";
import { publishedFault } from "./published.ts";
import { ROUTE_GROUPS } from "./route-groups.ts";
import { SchemaCheck } from "./schema-faults.ts";
import type { SecretWatch } from "./secret-watch.ts";

const JSON_TYPE = "application/json";

const table = new RouteTable(ROUTE_GROUPS);
const families = new PathFamilies(ROUTE_GROUPS, STANDARD_FAMILY);

/** Description of a response: one schema per media type. */
type Description = ReadonlyMap<string, SchemaCheck>;

function memberOf(value: unknown, ...names: string[]): JsonObject {
  const found = names.reduce((parent, name) => (isObject(parent) ? parent[name] : undefined), value);
  if (!isObject(found)) throw new Error(`The OpenAPI document has no ${names.join(" ")}.`);
  return found;
}

function descriptionOf(response: JsonObject): Description {
  const content = Object.entries(memberOf(response, "content"));
  return new Map(
    content.map(([mediaType, described]) => [mediaType, new SchemaCheck(memberOf(described, "schema"))]),
  );
}

/** Memoizes a function by its key. */
function once<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

/** Success response of a route, as the OpenAPI document describes it. */
const answerOf = once((route: Route): Description => describedAnswer(route, "200"));
const acceptedOf = once((route: Route): Description => describedAnswer(route, "202"));

function describedAnswer({ tag, family, endpoint, path }: Route, status: string): Description {
  const endpoints = [{ ...endpoint, paths: [path] }];
  const { paths } = buildOpenApiDocument([{ tag, family, paths: [], endpoints }]);
  const [operations] = isObject(paths) ? Object.values(paths) : [];
  return descriptionOf(memberOf(operations, endpoint.method.toLowerCase(), "responses", status));
}

/** Error response of a family, as the OpenAPI document describes it. */
const errorOf = once((family: Route["family"]): Description => {
  const { components } = buildOpenApiDocument([{ tag: family.id, family, paths: [], endpoints: [] }]);
  return descriptionOf(memberOf(components, "responses", family.id));
});

async function routeOf(method: string, url: URL, headers: Headers): Promise<Route | null> {
  try {
    return (await table.match(method, url, headers))?.route ?? null;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** The complete text of a response; null if it has no body or breaks off. */
async function textOf(response: Response): Promise<string | null> {
  if (response.body === null) return null;
  try {
    return await response.clone().text();
  } catch {
    return null;
  }
}

async function faultOf(
  method: string,
  url: URL,
  response: Response,
  description: Description,
  family: string,
): Promise<string | undefined> {
  const mediaType = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
  const check = description.get(mediaType);
  if (check === undefined) return `${JSON.stringify(mediaType)} is not among ${[...description.keys()]}`;
  if (mediaType !== JSON_TYPE || method === "HEAD") return undefined;
  const text = await textOf(response);
  if (text === null) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    const route = { method, path: url.pathname, ok: response.ok };
    return check.findFault(body) ?? publishedFault(family, route, body);
  } catch (error) {
    if (error instanceof SyntaxError) return "the body is no JSON";
    throw error;
  }
}

/**
 * Checks a response against the description of its route in `GET /openapi.json`: status, media type and, for JSON, every
 * member. Also checks bodies that a vendor describes against that vendor's schema. Streams are not read. Files of the
 * console and statuses without a body have no description.
 *
 * @throws Error that names the route, the status and the location in the body.
 */
export async function expectDescribed(
  method: string,
  url: URL,
  response: Response,
  headers = new Headers(),
): Promise<void> {
  const { status } = response;
  if (method === "OPTIONS" || (status >= 300 && status < 400)) return;
  // The provider's own answer has the shape that the provider gives it.
  if (response.ok && response.headers.get("x-gateway-path") === "native") return;
  const route = await routeOf(method, url, headers);
  if (route === null && response.ok) return;
  const family = route?.family ?? families.familyOf(url.pathname);
  const isAccepted = status === 202 && route?.endpoint.accepted !== undefined;
  const success = isAccepted ? acceptedOf : answerOf;
  const description = response.ok && route !== null ? success(route) : errorOf(family);
  // A declared status of success has no body.
  const isDeclared = response.ok && route?.endpoint.statuses?.[status] !== undefined;
  if (isDeclared && ((await textOf(response)) ?? "") === "") return;
  const fault =
    response.ok && status !== 200 && !isAccepted
      ? "only 200 is described"
      : await faultOf(method, url, response, description, family.id);
  if (fault === undefined) return;
  throw new Error(
    `${method} ${route?.path ?? url.pathname} answered ${status} other than described: ${fault}`,
  );
}

/**
 * Fetches from the gateway. A response that does not match its description fails the calling test, and `watch` searches it
 * for credentials.
 */
export async function fetchDescribed(
  watch: SecretWatch,
  url: URL,
  init: RequestInit = {},
): Promise<Response> {
  const method = init.method ?? "GET";
  watch.sent(url, init);
  const response = await fetch(url, init);
  await expectDescribed(method, url, response, new Headers(init.headers));
  return watch.answered(method, url, response);
}
