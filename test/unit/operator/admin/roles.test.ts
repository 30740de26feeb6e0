import { expect, test } from "vitest";
import { ROLES, type Role } from "../../../../src/core/config/roles.ts";
import { ADMIN_ENDPOINTS } from "../../../../src/operator/admin/index.ts";

/** What a viewer or an operator may not call: secrets, administrators, and deleting everything. */
const OWNER_ROUTES = [
  "DELETE /admin/administrators/:id",
  "DELETE /admin/chat-history",
  "DELETE /admin/dev/captures",
  "DELETE /admin/keys/:key/data",
  "DELETE /admin/users/:id/data",
  "GET /admin/administrators",
  "GET /admin/administrators/:id",
  "GET /admin/config/export",
  "GET /admin/export",
  "GET /admin/oidc/settings",
  "POST /admin/accounts/sessions/delete-all",
  "POST /admin/administrators",
  "POST /admin/config/import",
  "POST /admin/config/restore",
  "POST /admin/hosting/sync",
  "POST /admin/settings/password",
  "PUT /admin/administrators/:id",
  "PUT /admin/oidc/settings",
];

/** The routes without a role: they are how one signs in. */
const OPEN_ROUTES = [
  "GET /admin/oidc",
  "GET /admin/oidc/callback",
  "GET /admin/oidc/start",
  "POST /admin/login",
];

const routes = ADMIN_ENDPOINTS.flatMap((endpoint) =>
  endpoint.paths.map((path) => ({ route: `${endpoint.method} ${path}`, endpoint })),
);

const routesOf = (role: Role) =>
  routes.flatMap(({ route, endpoint }) =>
    endpoint.access === "admin" && endpoint.role === role ? [route] : [],
  );

test("every route of the admin API needs a role, but those to sign in", () => {
  const withoutRole = routes.filter(({ endpoint: { access } }) => access !== "admin");
  expect(
    withoutRole.filter(({ endpoint: { access } }) => access === "none").map(({ route }) => route),
  ).toEqual(expect.arrayContaining(OPEN_ROUTES));
  expect(withoutRole.map(({ route }) => route).toSorted()).toEqual(
    [...OPEN_ROUTES, "GET /admin/verify", "POST /admin/logout"].toSorted(),
  );
  expect(ROLES.flatMap(routesOf).length + withoutRole.length).toBe(routes.length);
});

test("owners alone see secrets, manage administrators and delete everything", () => {
  expect(routesOf("owner").toSorted()).toEqual(OWNER_ROUTES);
});

test("viewers only read, and operators may do the rest", () => {
  expect(routesOf("viewer").filter((route) => !route.startsWith("GET "))).toEqual([]);
  expect(routesOf("operator").filter((route) => route.startsWith("GET "))).toEqual([]);
});
