import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { STANDARD_FAMILY } from "../../../../src/core/routing/error-formats.ts";
import {
  isLazy,
  loadRouteGroup,
  mayServePath,
  PathFamilies,
} from "../../../../src/core/routing/route-group.ts";
import { RouteTable, routeNotFound } from "../../../../src/core/routing/router.ts";
import { ROUTE_GROUPS as LATE } from "../../../../src/routes.ts";
import { ROUTE_GROUPS, ROUTES } from "../../../support/route-groups.ts";

const table = new RouteTable(ROUTE_GROUPS);
const match = (method: string, path: string) => table.match(method, new URL(path, "http://gateway"));

describe("the route table", () => {
  it("decodes path parameters", async () => {
    const found = await match("DELETE", "/admin/accounts/token%3Aab%2B%40%25c");
    expect(found?.params["identifier"]).toBe("token:ab+@%c");
  });

  it("keeps colons and slashes of a model name together", async () => {
    const found = await match("POST", "/v1beta/models/models/a:b:generateContent");
    expect(found?.params["model"]).toBe("models/a:b");
    expect(found?.route.endpoint.verb).toBe("generateContent");
    expect((await match("GET", "/v1/models/org/model"))?.params["model"]).toBe("org/model");
  });

  it.each(["/v1beta/models/m:unknown", "/v1beta/models/m", "/v1/models/m:", "/v1/models/generateContent"])(
    "finds no verb in POST %s",
    async (path) => expect(await match("POST", path)).toBeNull(),
  );

  it("prefers fixed paths to parameters", async () => {
    expect((await match("POST", "/admin/accounts/test"))?.route.path).toBe("/admin/accounts/test");
    expect((await match("PUT", "/admin/chat-history/settings"))?.route.path).toBe(
      "/admin/chat-history/settings",
    );
  });

  it("accepts a path with or without a final slash", async () => {
    expect((await match("GET", "/v1/thumbs/"))?.route.path).toBe("/v1/thumbs");
  });

  it("rejects a path that is longer than all routes", async () => {
    expect(await match("GET", `/v1/models/${"a".repeat(3000)}`)).not.toBeNull();
    expect(await match("GET", `/v1/models/${"/".repeat(200_000)}x`)).toBeNull();
  });

  it("serves HEAD by the GET route", async () => {
    expect((await match("HEAD", "/healthz"))?.route.endpoint.method).toBe("GET");
  });

  it("answers 405 with Allow for a wrong method, and nothing for a wrong path", async () => {
    const error = await match("DELETE", "/v1/chat/completions").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
    expect(await match("GET", "/nowhere")).toBeNull();
  });

  it.each([
    "/v1beta/models/m:generateContent",
    "/v1/models/m:countTokens",
    "/v1beta/models/a:b:embedContent/",
    "/v1beta/models/m%3AgenerateContent",
  ])("answers POST %s, and 405 with what the verb allows for GET, HEAD and DELETE", async (path) => {
    expect((await match("POST", path))?.params["model"]).toBe(path.includes("a:b") ? "a:b" : "m");
    for (const method of ["GET", "HEAD", "DELETE"]) {
      const error = await match(method, path).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
    }
  });

  it.each(["llama3:8b", "org/m:free", "m:unknown", "m:GenerateContent", "generateContent"])(
    "reads %s as the name of a model",
    async (name) => {
      for (const prefix of ["/v1beta", "/v1"]) {
        expect((await match("GET", `${prefix}/models/${name}`))?.params["model"]).toBe(name);
      }
    },
  );

  it("has no two routes with the same method and path", () => {
    const rest = ROUTES.filter(({ endpoint }) => endpoint.when === undefined);
    const keys = rest.map(({ path, endpoint: { method, verb } }) => `${method} ${path} ${verb}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("asks styles that claim some requests of a path before the style that takes all others", () => {
    const places = Map.groupBy(ROUTES, ({ path, endpoint: { method } }) => `${method} ${path}`);
    for (const [name, routes] of places) {
      const claiming = routes.map(({ endpoint }) => endpoint.when !== undefined);
      if (claiming.includes(true))
        expect(claiming, name).toEqual([...routes.slice(1).map(() => true), false]);
    }
  });

  it("protects every admin route except the login", () => {
    const open = ROUTES.filter(
      ({ path, endpoint }) => path.startsWith("/admin/") && endpoint.access === "none",
    );
    expect(open.map(({ path, endpoint }) => `${endpoint.method} ${path}`)).toEqual([
      "POST /admin/login",
      "GET /admin/oidc",
      "GET /admin/oidc/start",
      "GET /admin/oidc/callback",
    ]);
  });
});

describe("the family of an unknown path", () => {
  const families = new PathFamilies(ROUTE_GROUPS, STANDARD_FAMILY);

  it.each([
    ["/admin/x", "admin"],
    ["/admin", "admin"],
    ["/administration", "chat"],
    ["/v1beta/models/x", "content"],
    ["/v1/models/x:generateContent", "content"],
    ["/vendorb/v1/x", "messages"],
    ["/v1/messages/x", "messages"],
    ["/api/x", "runner"],
    ["/v1/thumbs/x", "page"],
    ["/v1/x", "chat"],
  ])("%s: %s", (path, family) => expect(families.familyOf(path).id).toBe(family));
});

describe("a lazy route group", () => {
  const late = LATE.filter(isLazy);

  it("is loaded for every path that its endpoints have", async () => {
    expect(late.length).toBeGreaterThan(2);
    for (const surface of late) {
      const { endpoints } = await loadRouteGroup(surface);
      for (const path of endpoints.flatMap(({ paths }) => paths)) {
        const asked = path.replaceAll(/:\w+\+?/g, "x");
        expect(mayServePath(surface, asked), path).toBe(true);
        expect(mayServePath(surface, `${asked}//`), path).toBe(true);
      }
    }
  });

  it.each([
    ["/v1/chat/completions", []],
    ["/healthz", []],
    ["/v1/embeddings", []],
    ["/nowhere", []],
    ["/", ["Page service"]],
    ["/v1/messages", ["Message style"]],
    ["/anthropic/v1/models", ["Message style"]],
    ["/v1/responses/resp_1", ["Responses"]],
    ["/v1/completions", ["Text completions"]],
    ["/api/chat", ["Local-model-runner style"]],
    ["/v1beta/models/m:generateContent", ["Content-generation style"]],
    ["/v1/models", ["Message style", "Content-generation style"]],
  ])("is loaded for %s if it may have that path: %j", async (path, expected) => {
    const asked: string[] = [];
    const watched = LATE.map((surface) => {
      if (!isLazy(surface)) return surface;
      const load = () => {
        asked.push(surface.tag);
        return surface.load();
      };
      return { ...surface, load };
    });
    await new RouteTable(watched).match("POST", new URL(path, "http://gateway")).catch(() => null);
    expect(asked).toEqual(expected);
  });

  it("is asked in its order, whichever was loaded first", async () => {
    const later = new RouteTable(LATE);
    const served = async (headers: Headers) =>
      (await later.match("GET", new URL("http://gateway/v1/models"), headers))?.route.tag;
    await later.match("POST", new URL("http://gateway/v1beta/models/m:generateContent"));
    expect(await served(new Headers({ "anthropic-version": "2023-06-01" }))).toBe("Message style");
    expect(await served(new Headers({ "x-goog-api-key": "k" }))).toBe("Content-generation style");
    expect(await served(new Headers())).toBe("Models, embeddings, files");
  });

  it("is loaded once for simultaneous requests", async () => {
    const together = new RouteTable(LATE);
    const found = await Promise.all(
      [0, 1, 2].map(() => together.match("GET", new URL("http://gateway/v1/jobs/x"))),
    );
    expect(found.map((each) => each?.route.path)).toEqual(Array(3).fill("/v1/jobs/:id"));
    const again = await together.match("POST", new URL("http://gateway/v1/jobs/x")).catch((thrown) => thrown);
    expect(again).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, DELETE, OPTIONS" } });
  });
});

it("the error for an unknown path points out a repeated version", () => {
  expect(routeNotFound("POST", "/anthropic/v1/v1/messages").message).toContain("one /v1 too many");
  expect(routeNotFound("POST", "/v1/nothing").message).not.toContain("too many");
});
