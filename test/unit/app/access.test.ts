import { describe, expect, test, vi } from "vitest";
import { handleRequest } from "../../../src/app.ts";
import type { Route } from "../../../src/core/routing/route-group.ts";
import { useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import { ROUTES } from "../../support/surfaces.ts";

const gateway = useMemoryGateway();

const ADMIN_KEY = "an-admin-key";
const WITH_ADMIN = { env: { ADMIN_KEY } };

/** What anybody may call (contract, Authentication rule 4; page contract), and nothing else. */
const OPEN = [
  "GET /healthz",
  "GET /readyz",
  "GET /openapi.json",
  "GET /v1/models",
  "GET /v1/models/:model+",
  "GET /models",
  "GET /models/:model+",
  "GET /vendorb/v1/models",
  "GET /vendorb/v1/models/:model+",
  "GET /anthropic/v1/models",
  "GET /anthropic/v1/models/:model+",
  "GET /v1beta/models",
  "GET /v1beta/models/:model+",
  "GET /api/version",
  "GET /api/tags",
  "GET /api/ps",
  "POST /api/show",
  "POST /admin/login",
  "GET /admin/oidc",
  "GET /admin/oidc/start",
  "GET /admin/oidc/callback",
  "GET /",
  "GET /v1/thumbs",
  "POST /v1/thumbs",
  "GET /v1/technologies",
  "POST /v1/technologies",
  "GET /v1/metadata",
  "POST /v1/metadata",
  "GET /v1/content",
  "POST /v1/content",
  "GET /v1/jobs/:id",
  "DELETE /v1/jobs/:id",
  "GET /v1/jobs/:id/results/:place",
];

/** What only an administrator's token opens. */
const TOKEN_ONLY = ["GET /admin/verify", "POST /admin/logout"];

const nameOf = ({ path, endpoint: { method, verb } }: Route): string =>
  `${method} ${path}${verb === undefined ? "" : `:${verb}`}`;

/** A path that leads to a route. */
const pathOf = ({ path, endpoint: { verb } }: Route): string =>
  path.replaceAll(/:\w+\+?/g, "x") + (verb === undefined ? "" : `:${verb}`);

const isAdmin = ({ path }: Route): boolean => path.startsWith("/admin");

const named = (routes: readonly Route[]) => routes.map((route): [string, Route] => [nameOf(route), route]);
const open = named(ROUTES.filter((route) => OPEN.includes(nameOf(route))));
const closed = named(ROUTES.filter((route) => !OPEN.includes(nameOf(route))));
const business = closed.filter(([, route]) => !isAdmin(route));
const admin = closed.filter(([, route]) => isAdmin(route));

test("the list of open routes names routes that there are", () => {
  expect(OPEN.toSorted()).toEqual([...new Set(open.map(([name]) => name))].toSorted());
});

describe("without a credential", () => {
  test.each(open)("%s is open", async (_, route) => {
    const made = await gateway(WITH_ADMIN);
    const { status } = await made.request(pathOf(route), { method: route.endpoint.method });
    expect([401, 403]).not.toContain(status);
  });

  test.each(closed)("%s is a 401, and nothing is done", async (_, route) => {
    const made = await gateway(WITH_ADMIN);
    const { version } = await made.platform.configuration.read();
    const response = await made.request(pathOf(route), { method: route.endpoint.method });
    expect(response.status).toBe(401);
    await made.settle();
    expect(made.upstream.asked).toEqual([]);
    expect((await made.platform.configuration.readFresh()).version).toBe(version);
  });

  test.each(closed.filter(([, { endpoint }]) => endpoint.method === "GET"))(
    "%s is a 401 for HEAD and with a slash at its end too",
    async (_, route) => {
      const made = await gateway(WITH_ADMIN);
      expect((await made.request(pathOf(route), { method: "HEAD" })).status).toBe(401);
      expect((await made.request(`${pathOf(route)}/`)).status).toBe(401);
    },
  );
});

describe("a caller's key", () => {
  const headers = { authorization: `Bearer ${KEY}`, "x-api-key": KEY };

  test.each(business)("opens %s", async (_, route) => {
    const made = await gateway(WITH_ADMIN);
    const { status } = await made.request(pathOf(route), { method: route.endpoint.method, headers });
    expect([401, 403]).not.toContain(status);
  });

  test.each(admin)("does not open %s", async (_, route) => {
    const made = await gateway(WITH_ADMIN);
    const { status } = await made.request(pathOf(route), { method: route.endpoint.method, headers });
    expect(status).toBe(401);
  });
});

describe("the admin key", () => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const readable = admin.filter(([, { endpoint }]) => endpoint.method === "GET");

  test.each(readable.filter(([name]) => !TOKEN_ONLY.includes(name)))("opens %s", async (_, route) => {
    const made = await gateway(WITH_ADMIN);
    expect([401, 403]).not.toContain((await made.request(pathOf(route), { headers })).status);
  });

  test.each(readable.filter(([name]) => TOKEN_ONLY.includes(name)))("does not open %s", async (_, route) => {
    const made = await gateway(WITH_ADMIN);
    expect((await made.request(pathOf(route), { headers })).status).toBe(401);
  });

  test.each(admin)("opens %s no more while the deployment has none", async (_, route) => {
    const made = await gateway();
    const response = await made.request(pathOf(route), { method: route.endpoint.method, headers });
    expect(response.status).toBe(TOKEN_ONLY.includes(nameOf(route)) ? 401 : 403);
  });
});

describe("a page of another origin in development", () => {
  const ask = async (path: string, env: Record<string, string>, origin = "https://stranger.example") => {
    const made = await gateway({ env: { GATEWAY_DEVELOPMENT: "true", ...env } });
    const read = vi.spyOn(made.platform.configuration, "read");
    const headers = { origin, authorization: `Bearer ${env["ADMIN_KEY"] ?? "admin"}` };
    const { platform, waitUntil } = made;
    const request = new Request(`http://localhost:8787${path}`, { headers });
    const { status } = await handleRequest(request, { platform, waitUntil, clientAddress: "" });
    return { status, reads: read.mock.calls.length };
  };

  test.each([
    ["is refused while everybody knows the key", "admin", 403],
    ["gets in with a key of one's own", ADMIN_KEY, 200],
  ])("%s", async (_, key, status) => {
    expect(await ask("/admin/settings", { ADMIN_KEY: key })).toMatchObject({ status });
  });

  test("is no other one when it is the gateway's own", async () => {
    expect(await ask("/admin/settings", { ADMIN_KEY: "admin" }, "http://localhost:8787")).toMatchObject({
      status: 200,
    });
  });

  test("elsewhere nothing is read to find out", async () => {
    expect(await ask("/healthz", { ADMIN_KEY: "admin" })).toEqual({ status: 200, reads: 0 });
  });
});
