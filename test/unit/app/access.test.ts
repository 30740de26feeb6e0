import { describe, expect, test, vi } from "vitest";
import { handleRequest } from "../../../src/app.ts";
import type { Route } from "../../../src/core/routing/route-group.ts";
import { type MemoryGateway, useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import { ROUTES } from "../../support/route-groups.ts";

const createGateway = useMemoryGateway();

const ADMIN_KEY = "an-admin-key";
const WITH_ADMIN = { env: { ADMIN_KEY } };

/** What anybody may call (docs/contract/keys.md, Authentication, rule 4; docs/page-contract.md), and nothing else. */
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

const open = ROUTES.filter((route) => OPEN.includes(nameOf(route)));
const closed = ROUTES.filter((route) => !OPEN.includes(nameOf(route)));
const business = closed.filter((route) => !isAdmin(route));
const admin = closed.filter(isAdmin);
const readable = closed.filter(({ endpoint }) => endpoint.method === "GET");
const readableAdmin = readable.filter(isAdmin);

interface Requests {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** What follows the path. */
  readonly end?: string;
}

/** Requests each route of one gateway. Returns the statuses by route. */
async function statusesOf(
  gateway: MemoryGateway,
  routes: readonly Route[],
  { method, headers = {}, end = "" }: Requests = {},
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const route of routes) {
    const init = { method: method ?? route.endpoint.method, headers };
    statuses[nameOf(route)] = (await gateway.request(`${pathOf(route)}${end}`, init)).status;
  }
  await gateway.settle();
  return statuses;
}

const each = (routes: readonly Route[], status: number): Record<string, number> =>
  Object.fromEntries(routes.map((route) => [nameOf(route), status]));

/** The routes that refused a request. */
const refused = (statuses: Record<string, number>): string[] =>
  Object.keys(statuses).filter((name) => [401, 403].includes(statuses[name] ?? 0));

test("the list of open routes names routes that exist", () => {
  expect(OPEN.toSorted()).toEqual([...new Set(open.map(nameOf))].toSorted());
});

describe("without a credential", () => {
  test("open routes are open", async () => {
    expect(refused(await statusesOf(await createGateway(WITH_ADMIN), open))).toEqual([]);
  });

  test("all other routes are a 401 and do nothing", async () => {
    const gateway = await createGateway(WITH_ADMIN);
    const { version } = await gateway.platform.configuration.read();
    expect(await statusesOf(gateway, closed)).toEqual(each(closed, 401));
    expect(gateway.upstream.asked).toEqual([]);
    expect((await gateway.platform.configuration.readFresh()).version).toBe(version);
  });

  test("they are a 401 for HEAD and with a final slash, too", async () => {
    const gateway = await createGateway(WITH_ADMIN);
    expect(await statusesOf(gateway, readable, { method: "HEAD" })).toEqual(each(readable, 401));
    expect(await statusesOf(gateway, readable, { end: "/" })).toEqual(each(readable, 401));
  });
});

describe("a caller's key", () => {
  const headers = { authorization: `Bearer ${KEY}`, "x-api-key": KEY };

  test("opens all routes except those of administration", async () => {
    expect(refused(await statusesOf(await createGateway(WITH_ADMIN), business, { headers }))).toEqual([]);
  });

  test("opens no route of administration", async () => {
    const statuses: Record<string, number> = {};
    // A gateway for each: it rejects a client with 429 that tries several wrong admin keys.
    for (const route of admin)
      Object.assign(statuses, await statusesOf(await createGateway(WITH_ADMIN), [route], { headers }));
    expect(statuses).toEqual(each(admin, 401));
  });
});

describe("the admin key", () => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };

  test("opens all routes of administration that do not need a token", async () => {
    const statuses = await statusesOf(await createGateway(WITH_ADMIN), readableAdmin, { headers });
    expect(refused(statuses)).toEqual(TOKEN_ONLY.filter((name) => name.startsWith("GET ")));
  });

  test("opens no admin route while the deployment has no admin key", async () => {
    const statuses = await statusesOf(await createGateway(), admin, { headers });
    const wanted = (name: string) => (TOKEN_ONLY.includes(name) ? 401 : 403);
    expect(statuses).toEqual(Object.fromEntries(admin.map(nameOf).map((name) => [name, wanted(name)])));
  });
});

describe("a page of another origin in development", () => {
  const ask = async (path: string, env: Record<string, string>, origin = "https://stranger.example") => {
    const gateway = await createGateway({ env: { GATEWAY_DEVELOPMENT: "true", ...env } });
    const read = vi.spyOn(gateway.platform.configuration, "read");
    const headers = { origin, authorization: `Bearer ${env["ADMIN_KEY"] ?? "admin"}` };
    const { platform, waitUntil } = gateway;
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

  test("is accepted if it is the gateway's own", async () => {
    expect(await ask("/admin/settings", { ADMIN_KEY: "admin" }, "http://localhost:8787")).toMatchObject({
      status: 200,
    });
  });

  test("is not looked for outside development", async () => {
    expect(await ask("/healthz", { ADMIN_KEY: "admin" })).toEqual({ status: 200, reads: 0 });
  });
});
