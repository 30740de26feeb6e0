import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { ROUTES, SURFACES } from "../../../src/routes.ts";
import { openApiDocument } from "../../../src/routing/openapi.ts";

const document = Object(openApiDocument(SURFACES));

function operationOf(method: string, path: string, verb?: string) {
  const template = path.replaceAll(/:(\w+)\+?/g, "{$1}") + (verb === undefined ? "" : `:${verb}`);
  return document.paths[template]?.[method.toLowerCase()];
}

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const outcome = await validator.validate(structuredClone(document));
    expect(outcome.errors ?? []).toEqual([]);
    expect([outcome.valid, validator.version]).toEqual([true, "3.1"]);
  });

  it("describes every route, with what a caller needs for it", () => {
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
    const ids = ROUTES.map(
      ({ path, endpoint }) => operationOf(endpoint.method, path, endpoint.verb).operationId,
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("describes bodies and queries by the schemas that check them", () => {
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
    expect(list.map(({ name }: { name: string }) => name)).toEqual(["page", "page_size", "q"]);
    expect(
      operationOf("POST", "/admin/login").requestBody.content["application/json"].schema.required,
    ).toEqual(["admin_key"]);
  });
});
