import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Administrators and their roles. */

const running = useAdmin();
const { admin, fetch: ask } = running;

const PASSWORD = "a password of eight and more";

async function signIn(name: string, password = PASSWORD): Promise<string> {
  const { status, body } = await admin("POST", "/admin/login", { name, password }, null);
  expect(status).toBe(200);
  return String(body["token"]);
}

const add = (id: string, role: string, more = {}) =>
  admin("POST", "/admin/administrators", { id, role, password: PASSWORD, ...more });

describe("administrators", () => {
  it("sign in by name and password, and may do what their role allows", async () => {
    for (const role of ["viewer", "operator", "owner"]) {
      expect((await add(`a-${role}`, role)).status).toBe(200);
      const token = await signIn(`a-${role}`);
      const statusOf = async (method: string, path: string, body?: unknown) =>
        (await admin(method, path, body, token)).status;
      const allowed = (needed: readonly string[]) => (needed.includes(role) ? 200 : 403);
      const verified = await admin("GET", "/admin/verify", undefined, token);
      expect(verified.body).toMatchObject({ role, administrator: `a-${role}` });
      expect(await statusOf("GET", "/admin/config")).toBe(200);
      expect(await statusOf("POST", "/admin/keys", { name: role })).toBe(allowed(["operator", "owner"]));
      expect(await statusOf("GET", "/admin/config/export")).toBe(allowed(["owner"]));
      expect(await statusOf("GET", "/admin/administrators")).toBe(allowed(["owner"]));
      expect(await statusOf("DELETE", "/admin/chat-history")).toBe(allowed(["owner"]));
    }
    const { body } = await admin("GET", "/admin/audit?action=/admin/keys");
    expect(body["items"]).toContainEqual(expect.objectContaining({ who: "admin:a-operator" }));
    const { body: signIns } = await admin("GET", "/admin/audit?action=/admin/login");
    expect(signIns["items"]).toContainEqual(expect.objectContaining({ who: "admin:a-viewer" }));
  });

  it("are refused equally with a wrong name or password, and no view contains their hash", async () => {
    await add("someone", "owner");
    const wrong = await admin("POST", "/admin/login", { name: "someone", password: "wrong" }, null);
    const unknown = await admin("POST", "/admin/login", { name: "nobody", password: "wrong" }, null);
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body).toEqual(unknown.body);
    const { body } = await admin("GET", "/admin/administrators/someone");
    expect(body).toEqual({
      ...{ id: "someone", name: "", role: "owner", email: "", oidc_subject: "" },
      ...{ has_password: true, disabled: false },
    });
    expect((await admin("POST", "/admin/login", { name: "someone" }, null)).status).toBe(400);
  });

  it.each([
    ["removed", () => admin("DELETE", "/admin/administrators/leaving")],
    ["demoted", () => admin("PUT", "/admin/administrators/leaving", { role: "viewer" })],
    ["disabled", () => admin("PUT", "/admin/administrators/leaving", { disabled: true })],
    [
      "given another password",
      () => admin("PUT", "/admin/administrators/leaving", { password: "another one" }),
    ],
  ])("lose their tokens when they are %s, for good", async (_, change) => {
    await admin("DELETE", "/admin/administrators/leaving");
    await add("leaving", "operator");
    const token = await signIn("leaving");
    expect((await admin("GET", "/admin/verify", undefined, token)).status).toBe(200);
    expect((await change()).status).toBe(200);
    await until(
      () => admin("GET", "/admin/queue/status", undefined, token),
      ({ status }) => status === 401,
    );
    await admin("DELETE", "/admin/administrators/leaving");
    await add("leaving", "owner");
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect((await admin("GET", "/admin/queue/status", undefined, token)).status).toBe(401);
  });
});

describe("a new key with the owner of stored objects, or with former secrets", () => {
  const digest = "ab".repeat(32);

  it.each([
    ["owner", digest],
    ["previous", [{ digest, until: 4_000_000_000_000 }]],
    ["cache_epoch", 1],
  ])("is refused to an operator: %s", async (field, value) => {
    await add("key-maker", "operator");
    const token = await signIn("key-maker");
    const { body: view } = await admin("GET", "/admin/config");
    const present = Array.isArray(view["api_keys"]) ? view["api_keys"] : [];
    const added = { key: `sk-with-${field}`, [field]: value };
    for (const role of [token, undefined]) {
      const created = await admin("POST", "/admin/keys", { ...added, key: `${added.key}-1` }, role);
      const imported = await admin(
        "POST",
        "/admin/import",
        { keys: [{ ...added, key: `${added.key}-2` }] },
        role,
      );
      const updated = await admin("POST", "/admin/config", { api_keys: [...present, added] }, role);
      const expected = role === token ? 403 : 200;
      expect([created.status, imported.status, updated.status]).toEqual([expected, expected, expected]);
      if (role === token) expect(JSON.stringify(created.body)).toContain(field);
    }
  });

  it("is made by a rotation, which operators may do", async () => {
    await add("rotator", "operator");
    const { body } = await admin("POST", "/admin/keys", { name: "to rotate" });
    const rotated = await admin("POST", `/admin/keys/${body["id"]}/rotate`, {}, await signIn("rotator"));
    expect(rotated.status).toBe(200);
  });
});

describe("sign-out", () => {
  it.each([
    ["an administrator", { name: "quitting", password: PASSWORD }],
    ["whoever has the admin key", { admin_key: "admin" }],
  ])("ends the token of %s, and no other one", async (_, credentials) => {
    await add("quitting", "owner");
    const start = async () => String((await admin("POST", "/admin/login", credentials, null)).body["token"]);
    const [ended, other] = [await start(), await start()];
    expect((await admin("POST", "/admin/logout", undefined, ended)).body).toEqual({ success: true });
    for (const path of ["/admin/verify", "/admin/queue/status"]) {
      expect((await admin("GET", path, undefined, ended)).status).toBe(401);
      expect((await admin("GET", path, undefined, other)).status).toBe(200);
    }
    expect((await admin("POST", "/admin/logout", undefined, ended)).status).toBe(401);
    const { body } = await admin("GET", "/admin/audit?action=/admin/logout");
    expect(body["total"]).toBeGreaterThan(0);
    await admin("DELETE", "/admin/administrators/quitting");
  });
});

describe("a configuration that is restored", () => {
  it("restores no removed administrator", async () => {
    await add("fired", "owner");
    const token = await signIn("fired");
    await admin("DELETE", "/admin/administrators/fired");
    const { body: versions } = await admin("GET", "/admin/config/versions");
    const items = versions["items"];
    const newest = Array.isArray(items) ? items[0] : undefined;
    expect((await admin("POST", "/admin/config/restore", { version: newest?.version })).status).toBe(200);
    expect((await admin("GET", "/admin/administrators/fired")).status).toBe(404);
    await until(
      () => admin("GET", "/admin/queue/status", undefined, token),
      ({ status }) => status === 401,
    );
  });
});

describe("a stored secret", () => {
  it("goes to another address only for an owner, unless it is stated again", async () => {
    const provider = {
      id: "vault",
      driver: "openai",
      base_url: "http://127.0.0.1:9/v1",
      token: "sk-vault-1234",
    };
    await admin("POST", "/admin/providers", provider);
    await admin("POST", "/admin/providers", { ...provider, id: "other", base_url: "http://127.0.0.1:8/v1" });
    const proxy = {
      id: "px",
      type: "http",
      host: "127.0.0.1",
      port: 9,
      username: "u",
      password: "proxy-secret",
    };
    await admin("POST", "/admin/proxies", proxy);
    await admin("POST", "/admin/accounts", {
      email: "v@vault.example",
      token: "sk-acc-1234",
      provider: "vault",
    });
    await add("op", "operator");
    const token = await signIn("op");
    const statusOf = async (path: string, body: object) => (await admin("PUT", path, body, token)).status;
    expect(await statusOf("/admin/providers/vault", { base_url: "http://127.0.0.1:8/v1" })).toBe(403);
    expect(await statusOf("/admin/providers/vault", { driver: "anthropic" })).toBe(403);
    expect(await statusOf("/admin/proxies/px", { ...proxy, password: "", port: 10 })).toBe(403);
    expect(await statusOf("/admin/accounts/v@vault.example", { provider: "other" })).toBe(403);
    const renamed = { identifier: "v@vault.example", email: "w@vault.example", provider: "other" };
    expect((await admin("POST", "/admin/config", { accounts: [renamed] }, token)).status).toBe(403);
    const auth = { type: "oauth2", token_url: "http://127.0.0.1:9/token", client_id: "c", scope: "one" };
    await admin("POST", "/admin/accounts", {
      ...{ email: "o@vault.example", provider: "vault" },
      auth: { ...auth, client_secret: "a-stored-client-secret" },
    });
    const rescoped = { provider: "other", auth: { ...auth, scope: "two" } };
    expect(await statusOf("/admin/accounts/o@vault.example", rescoped)).toBe(403);
    expect(await statusOf("/admin/accounts/o@vault.example", { auth: rescoped.auth })).toBe(200);
    // The accounts of a provider without a token of its own would go along with its address, or through a proxy that reads it.
    await admin("POST", "/admin/providers", { ...provider, id: "bare", token: "" });
    await admin("POST", "/admin/accounts", { email: "b@bare.example", token: "sk-b-1234", provider: "bare" });
    expect(await statusOf("/admin/providers/bare", { base_url: "http://127.0.0.1:8/v1" })).toBe(403);
    expect(await statusOf("/admin/providers/bare", { proxy_id: "px" })).toBe(403);
    expect(await statusOf("/admin/accounts/b@bare.example/proxy", { proxy_id: "px" })).toBe(403);
    expect(await statusOf("/admin/providers/bare", { name: "Bare" })).toBe(200);
    expect(await statusOf("/admin/providers/vault", { name: "Vault" })).toBe(200);
    const stated = { base_url: "http://127.0.0.1:8/v1", token: "sk-new-5678" };
    // The tokens of its accounts would go along.
    expect(await statusOf("/admin/providers/vault", stated)).toBe(403);
    await admin("POST", "/admin/providers", { ...provider, id: "without-accounts" });
    expect(await statusOf("/admin/providers/without-accounts", stated)).toBe(200);
    expect((await admin("PUT", "/admin/providers/vault", { base_url: "http://127.0.0.1:9/v1" })).status).toBe(
      200,
    );
  });
});

describe("sign-in at an identity provider", () => {
  const server = createServer();
  let issuer = "";

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the server has no port");
    const { port }: AddressInfo = address;
    issuer = `http://127.0.0.1:${port}`;
    const callback = `${running.gateway.url}/admin/oidc/callback`;
    const provider = new Provider(issuer, {
      clients: [{ client_id: "polygate", client_secret: "a-secret-of-it", redirect_uris: [callback] }],
      claims: { email: ["email", "email_verified"] },
      pkce: { required: () => true },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, email: `${id}@Example.com`, email_verified: id !== "unverified" }),
      }),
    });
    server.on("request", provider.callback());
    const settings = { issuer, client_id: "polygate", client_secret: "a-secret-of-it", label: "Company" };
    expect((await admin("PUT", "/admin/oidc/settings", settings)).body).toMatchObject({
      has_client_secret: true,
      callback,
    });
  });
  afterAll(() => void server.close());

  /** A browser: it keeps the cookies of each host, and follows redirects until one leads to the console. */
  class Browser {
    readonly #cookies = new Map<string, string>();

    async open(address: string, init: RequestInit = {}): Promise<string> {
      let url = new URL(address);
      let next = init;
      for (let step = 0; step < 20; step += 1) {
        const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(url, {
          ...next,
          redirect: "manual",
          headers: { cookie, ...next.headers },
        });
        for (const set of response.headers.getSetCookie()) {
          const [pair = ""] = set.split(";");
          this.#cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
        }
        const location = response.headers.get("location");
        if (location === null) return this.#fill(url, await response.text());
        if (location.startsWith("/admin#")) return location;
        url = new URL(location, url);
        next = {};
      }
      throw new Error("too many redirects");
    }

    user = "ada";

    /** Fills in the provider's form: first who signs in, then the consent. */
    #fill(url: URL, html: string): Promise<string> {
      const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1] ?? "";
      if (prompt === "") throw new Error(`no form: ${html.slice(0, 500)}`);
      const body = new URLSearchParams({ prompt, login: this.user, password: "any" });
      return this.open(url.href, { method: "POST", body });
    }
  }

  const signInAs = async (user: string) => {
    const browser = new Browser();
    browser.user = user;
    const location = await browser.open(`${running.gateway.url}/admin/oidc/start`);
    return new URLSearchParams(location.slice("/admin#".length));
  };

  it("is offered on the sign-in page", async () => {
    expect((await admin("GET", "/admin/oidc", undefined, null)).body).toEqual({
      enabled: true,
      label: "Company",
    });
  });

  it("gives an administrator with this address a token", async () => {
    await admin("POST", "/admin/administrators", { id: "ada", role: "operator", email: "Ada@example.com" });
    const token = (await signInAs("ada")).get("signed_in") ?? "";
    expect((await admin("GET", "/admin/verify", undefined, token)).body).toMatchObject({
      administrator: "ada",
      role: "operator",
    });
  });

  it("gives no token to an unknown or unverified address", async () => {
    expect((await signInAs("eve")).get("sign_in_failed")).toContain("is no administrator here");
    await admin("POST", "/admin/administrators", {
      ...{ id: "unverified", role: "owner", email: "unverified@example.com" },
    });
    expect((await signInAs("unverified")).get("sign_in_failed")).toContain("is no administrator here");
    await admin("PUT", "/admin/administrators/unverified", { oidc_subject: "unverified" });
    expect((await signInAs("unverified")).get("signed_in")).not.toBeNull();
  });

  it("fails for a code from another browser", async () => {
    const response = await ask("/admin/oidc/callback?code=stolen&state=x", { redirect: "manual" });
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toContain("sign_in_failed=");
  });
});
