import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ADMIN_ENDPOINTS } from "../../../../src/operator/admin/index.ts";

const named = ADMIN_ENDPOINTS.flatMap((endpoint) =>
  endpoint.paths.map((path) => ({ name: `${endpoint.method} ${path}`, path, endpoint })),
);

describe("the admin API", () => {
  it("has each of its endpoints once, below its own path", () => {
    expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
    expect(named.filter(({ path }) => !path.startsWith("/admin/"))).toEqual([]);
  });

  it("requires a sign-in for everything except the sign-in itself", () => {
    const other = named.filter(({ endpoint }) => endpoint.access !== "admin");
    expect(other.map(({ name, endpoint }) => [name, endpoint.access])).toEqual([
      ["POST /admin/login", "none"],
      ["GET /admin/verify", "token"],
      ["POST /admin/logout", "token"],
      ["GET /admin/oidc", "none"],
      ["GET /admin/oidc/start", "none"],
      ["GET /admin/oidc/callback", "none"],
    ]);
  });

  it.each(named)("describes its answers: $name", ({ endpoint }) => {
    const answers = Object.values(endpoint.answers?.() ?? {});
    expect(answers).not.toEqual([]);
    for (const schema of answers) {
      if (schema instanceof z.ZodType) expect(z.toJSONSchema(schema)).not.toEqual({});
    }
  });
});

describe("the body of an import, as the OpenAPI document has it", () => {
  const schema = named.find(({ name }) => name === "POST /admin/config/import")?.endpoint.body;

  it("is a wrapper with a configuration, or a configuration without a member of that name", () => {
    const { type, anyOf = [] } = z.toJSONSchema(schema ?? z.never(), { io: "input", unrepresentable: "any" });
    expect(type).toBe("object");
    expect(anyOf).toMatchObject([
      { required: ["config"], properties: { config: { type: "object" }, mode: {} } },
      { properties: { keys: { type: "array" }, config: { not: {} } } },
    ]);
  });

  it("is accepted unchanged", () => {
    const sent = { keys: [" sk-1 "], other: { is: "kept" } };
    expect(schema?.parse(sent)).toEqual(sent);
  });
});
