import * as JsonSchema from "@cfworker/json-schema";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../../src/core/encoding/json.ts";
import { buildOpenApiDocument } from "../../../../src/core/routing/openapi.ts";
import { ROUTE_GROUPS, ROUTES } from "../../../support/route-groups.ts";

const document = Object(buildOpenApiDocument(ROUTE_GROUPS));

function operationOf(method: string, path: string, verb?: string) {
  const template = path.replaceAll(/:(\w+)\+?/g, "{$1}") + (verb === undefined ? "" : `:${verb}`);
  return document.paths[template]?.[method.toLowerCase()];
}

const JSON_TYPE = "application/json";

/** Whether a schema names members, in each of its forms, or says that there are none. */
function saysMembers(schema: JsonObject): boolean {
  const forms = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(forms)) return forms.every(saysMembers);
  if (schema["maxProperties"] === 0) return true;
  return isObject(schema["properties"]) && Object.keys(schema["properties"]).length > 0;
}

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const outcome = await validator.validate(structuredClone(document));
    expect(outcome.errors ?? []).toEqual([]);
    expect([outcome.valid, validator.version]).toEqual([true, "3.1"]);
  });

  it("describes every route and its required credentials", () => {
    for (const { path, endpoint } of ROUTES) {
      const { method, access, verb } = endpoint;
      const operation = operationOf(method, path, verb);
      expect(operation, `${method} ${path}`).toBeDefined();
      expect(operation.summary).not.toBe("");
      expect(operation.security.length === 0).toBe(access === "none");
      const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
      const parameters = (operation.parameters ?? []).filter((it: { in: string }) => it.in === "path");
      expect(parameters.map((it: { name: string }) => it.name)).toEqual(named);
    }
  });

  it("names no operation twice", () => {
    const operations = new Set(
      ROUTES.map(({ path, endpoint }) => operationOf(endpoint.method, path, endpoint.verb)),
    );
    expect(new Set([...operations].map(({ operationId }) => operationId)).size).toBe(operations.size);
  });

  it("describes the answers of all styles that share a path", () => {
    const { responses } = operationOf("GET", "/v1/models");
    const lists = responses["200"].content["application/json"].schema.anyOf;
    expect(lists.map(({ properties }: { properties: object }) => Object.keys(properties)[0])).toEqual([
      "object",
      "models",
      "object",
    ]);
    expect(responses.default.content["application/json"].schema.anyOf).toHaveLength(3);
  });

  it("describes bodies and queries with the schemas that check them", () => {
    const settings = operationOf("PUT", "/admin/settings").requestBody.content["application/json"].schema;
    expect(settings.properties.runtime.properties.account_max_inflight).toMatchObject({
      type: "integer",
      minimum: 1,
      maximum: 256,
    });
    expect(settings.additionalProperties).toBe(false);
    const chat = operationOf("POST", "/v1/chat/completions").requestBody.content["application/json"].schema;
    expect(chat.required).toEqual(expect.arrayContaining(["model", "messages"]));
    const list = operationOf("GET", "/admin/accounts").parameters;
    expect(list.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["page", "page_size", "q"]),
    );
    const login = operationOf("POST", "/admin/login").requestBody.content["application/json"].schema;
    expect(Object.keys(login.properties)).toEqual(["admin_key", "name", "password", "expire_hours"]);
  });

  it("creates the schemas of answers only when it is requested", () => {
    for (const { path, endpoint } of ROUTES) expect(typeof endpoint.answers, path).toBe("function");
  });

  it("lists the members of every JSON body and answer", () => {
    const silent = ROUTES.flatMap(({ path, endpoint }) => {
      const { requestBody, responses } = operationOf(endpoint.method, path, endpoint.verb);
      const contents = [requestBody?.content, (responses["200"] ?? responses["202"]).content];
      return contents.some((content) => content?.[JSON_TYPE] && !saysMembers(content[JSON_TYPE].schema))
        ? [`${endpoint.method} ${path}`]
        : [];
    });
    expect(silent).toEqual(["GET /openapi.json"]);
  });

  it("has a body where the endpoint takes one, and an answer with a media type everywhere", () => {
    for (const { path, endpoint } of ROUTES) {
      const { requestBody, responses } = operationOf(endpoint.method, path, endpoint.verb);
      const takesBody = endpoint.body !== undefined || endpoint.streamedBody !== undefined;
      expect(requestBody !== undefined, path).toBe(takesBody);
      const [status, answers] =
        responses["200"] === undefined
          ? (["202", endpoint.accepted] as const)
          : (["200", endpoint.answers] as const);
      expect(Object.keys(responses[status].content), path).toEqual(Object.keys(answers?.() ?? {}));
    }
  });

  it("describes the headers and statuses of the page service", () => {
    const picture = operationOf("GET", "/v1/thumbs").responses;
    expect(Object.keys(picture)).toEqual(
      expect.arrayContaining([
        "200",
        "202",
        "304",
        "400",
        "401",
        "403",
        "404",
        "422",
        "429",
        "502",
        "503",
        "504",
      ]),
    );
    expect(picture["304"]).toEqual({ description: expect.any(String) });
    expect(picture["429"]).toMatchObject({ $ref: picture.default.$ref });
    const list = operationOf("POST", "/v1/thumbs");
    // A page in the body is answered at once, a list of pages later.
    expect(Object.keys(list.responses)).toEqual(expect.arrayContaining(["200", "202"]));
    expect(list.parameters.map(({ name }: { name: string }) => name)).toContain("key");
    const described = ROUTES.flatMap(({ path, endpoint: { method, headers = {} } }) =>
      Object.keys(headers).map((name) => [name.toLowerCase(), operationOf(method, path)] as const),
    );
    for (const [name, { responses }] of described) {
      const { headers } = responses["200"] ?? responses["202"];
      expect(Object.keys(headers).map((one) => one.toLowerCase())).toContain(name);
    }
    expect(described.map(([name]) => name)).toEqual(
      expect.arrayContaining(["retry-after", "etag", "x-cache"]),
    );
  });
});

it("states which admin edits accept a version, and which answers have one", () => {
  for (const name of [
    "keys/:key",
    "accounts/:identifier",
    "providers/:providerID",
    "proxies/:proxyID",
    "routes/:name",
  ]) {
    const [read, put, remove] = ["GET", "PUT", "DELETE"].map((method) =>
      operationOf(method, `/admin/${name}`),
    );
    for (const { responses } of [read, put, remove]) expect(responses["200"].headers).toHaveProperty("ETag");
    for (const { parameters, responses } of [put, remove]) {
      expect(parameters).toContainEqual(expect.objectContaining({ name: "If-Match", in: "header" }));
      expect(responses).toHaveProperty("412");
    }
  }
});

describe("a body with several forms", () => {
  const text = { parts: [{ text: "hello" }] };
  const declaration = { functionDeclarations: [{ name: "f" }] };

  /** What the endpoint of a verb takes, by the schema that checks it and by the document. */
  function verdicts(verb: string, body: unknown): { checked: boolean; described: boolean } {
    const path = "/v1beta/models/:model+";
    const route = ROUTES.find((it) => it.path === path && it.endpoint.verb === verb);
    const { schema } = operationOf("POST", path, verb).requestBody.content[JSON_TYPE];
    return {
      checked: route?.endpoint.body?.safeParse(body).success ?? false,
      described: new JsonSchema.Validator(schema, "2020-12").validate(body).valid,
    };
  }

  it.each<[name: string, body: JsonObject]>([
    ["turns", { contents: [text, { role: "model", parts: [{ text: "hi" }] }] }],
    ["one turn", { contents: text }],
    ["plain text", { contents: "hello" }],
    ["one part", { contents: [{ parts: { text: "hello" } }] }],
    ["parts in plain text", { contents: [{ parts: ["hello", { text: "there" }] }] }],
    ["instructions", { contents: "hello", systemInstruction: text }],
    ["instructions in plain text", { contents: "hello", systemInstruction: "be brief" }],
    ["groups of tools", { contents: "hello", tools: [declaration] }],
    ["one group of tools", { contents: "hello", tools: declaration }],
    ["nulls", { contents: [{ role: null, parts: null }], tools: null, systemInstruction: null }],
    ["unknown members", { contents: "hello", safetySettings: [], generationConfig: { topK: 1 } }],
  ])("is described in each accepted form: %s", (_, body) => {
    const taken = { checked: true, described: true };
    expect(verdicts("generateContent", body)).toEqual(taken);
    expect(verdicts("streamGenerateContent", body)).toEqual(taken);
    expect(verdicts("countTokens", body)).toEqual(taken);
    expect(verdicts("countTokens", { generateContentRequest: body })).toEqual(taken);
  });

  it.each<[name: string, body: unknown]>([
    ["no object", "hello"],
    ["no contents", {}],
    ["no turn", { contents: [] }],
    ["a number", { contents: 1 }],
    ["a turn that is a text", { contents: ["hello"] }],
    ["parts that are a text", { contents: [{ parts: "hello" }] }],
    ["a call without a name", { contents: [{ parts: [{ functionCall: {} }] }] }],
    ["tools in plain text", { contents: "hello", tools: "f" }],
  ])("is described in no refused form: %s", (_, body) => {
    const refused = { checked: false, described: false };
    expect(verdicts("generateContent", body)).toEqual(refused);
    expect(verdicts("countTokens", body)).toEqual(refused);
    expect(verdicts("countTokens", { generateContentRequest: body })).toEqual(refused);
  });
});
