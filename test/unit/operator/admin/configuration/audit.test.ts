import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../../../../src/core/ports/audit-log.ts";
import { ADMIN_ENDPOINTS } from "../../../../../src/operator/admin/index.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../../support/memory-gateway.ts";

const make = useMemoryGateway();

/** Deletions that edit the configuration, whose edits have entries of their own, and the two that record their counts. */
const OTHER_DELETIONS = [
  "/admin/accounts/:identifier",
  "/admin/administrators/:id",
  "/admin/keys/:key",
  "/admin/keys/:key/data",
  "/admin/providers/:providerID",
  "/admin/providers/:providerID/models/:model",
  "/admin/proxies/:proxyID",
  "/admin/routes/:name",
  "/admin/tags/:id",
  "/admin/teams/:id",
  "/admin/users/:id",
  "/admin/users/:id/data",
];
const headers = { authorization: "Bearer admin" };

/** What was recorded, newest first. */
async function recorded({ platform }: MemoryGateway): Promise<readonly AuditEntry[]> {
  const open = { page: 1, pageSize: 50, who: "", action: "", q: "", since: 0, until: 0 };
  return (await platform.auditLog.listEntries(open)).items;
}

describe("the audit log", () => {
  it("has successful sign-ins with their token", async () => {
    const gateway = await make({ env: { ADMIN_KEY: "admin" } });
    const refused = await gateway.post("/admin/login", { admin_key: "wrong" }, { headers: {} });
    expect(refused.status).toBe(401);
    const answer = await gateway.post("/admin/login", { admin_key: "admin" }, { headers: {} });
    const { token }: { token: string } = await answer.json();
    const mine = { authorization: `Bearer ${token}` };
    await gateway.request("/admin/chat-history", { method: "DELETE", headers: mine });
    const [deleted, signedIn, ...rest] = await recorded(gateway);
    expect(signedIn).toMatchObject({
      action: "POST /admin/login",
      address: "192.0.2.1",
      who: expect.stringMatching(/^token:[\da-f]{8}$/),
      changes: [],
    });
    expect(deleted?.who).toBe(signedIn?.who);
    expect(rest).toEqual([]);
    expect(JSON.stringify(await recorded(gateway))).not.toContain(token);
  });

  it("has tests of accounts, and their results", async () => {
    const gateway = await make({
      env: { ADMIN_KEY: "admin" },
      other: ({ path, token }) =>
        path === "/api/account" && token.startsWith("two@")
          ? { json: { error: { code: "account_suspended" } }, status: 403 }
          : undefined,
    });
    for (const identifier of ["one@test", "two@test"]) {
      await gateway.post("/admin/accounts/test", { identifier }, { headers });
    }
    const all = gateway.post("/admin/accounts/test-all", {}, { headers });
    await gateway.settle();
    await all;
    expect(await recorded(gateway)).toMatchObject([
      {
        action: "POST /admin/accounts/test-all",
        changes: [
          { path: "tested", after: "2" },
          { path: "failed", after: "1" },
        ],
      },
      {
        action: "POST /admin/accounts/test",
        changes: [{ path: "two@test", before: null, after: '"failed"' }],
      },
      { action: "POST /admin/accounts/test", changes: [{ path: "one@test", before: null, after: '"ok"' }] },
    ]);
  });

  it("has deletions outside the configuration", async () => {
    const gateway = await make({ env: { ADMIN_KEY: "admin" } });
    await gateway.request("/admin/dev/captures", { method: "DELETE", headers });
    await gateway.request("/admin/chat-history", { method: "DELETE", headers });
    await gateway.post("/admin/accounts/sessions/delete-all", { identifier: "one@test" }, { headers });
    const missing = await gateway.request("/admin/chat-history/none", { method: "DELETE", headers });
    expect(missing.status).toBe(404);
    expect((await recorded(gateway)).map(({ action, who }) => [action, who])).toEqual([
      ["POST /admin/accounts/sessions/delete-all", "key"],
      ["DELETE /admin/chat-history", "key"],
      ["DELETE /admin/dev/captures", "key"],
    ]);
  });

  it("has every route that deletes", () => {
    const unaudited = ADMIN_ENDPOINTS.filter(
      (endpoint) => endpoint.method === "DELETE" && !("audit" in endpoint),
    );
    expect(unaudited.flatMap(({ paths }) => paths).toSorted()).toEqual(OTHER_DELETIONS);
  });
});
