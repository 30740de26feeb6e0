import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AWS_KEYS, CLIENT, CredentialBackend, FIRST_REFRESH_TOKEN } from "../support/credential-backend.ts";
import { useAdmin } from "../support/use-admin.ts";

const { admin, chat, fetch, post } = useAdmin();
let backend: CredentialBackend;

beforeAll(async () => {
  backend = await CredentialBackend.start();
});
afterAll(() => backend.close());

/** Every test has its own backend's state, provider and accounts. */
beforeEach(async () => {
  await backend.close();
  backend = await CredentialBackend.start();
  const { body } = await admin("GET", "/admin/accounts?page_size=1000&provider=vendor");
  for (const { identifier } of Object(body["items"]))
    await admin("DELETE", `/admin/accounts/${encodeURIComponent(identifier)}`);
  await admin("DELETE", "/admin/providers/vendor");
  const provider = {
    id: "vendor",
    driver: "openai",
    base_url: `${backend.url}/v1`,
    account_max_inflight: 50,
    headers: { "x-tenant": "tenant-secret-0123456789" },
  };
  expect((await admin("POST", "/admin/providers", provider)).status).toBe(200);
});

const OAUTH = () => ({
  type: "oauth2",
  token_url: `${backend.url}/token`,
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  refresh_token: FIRST_REFRESH_TOKEN,
});

async function addAccount(auth: object, more: object = {}) {
  return admin("POST", "/admin/accounts", { email: "robot", provider: "vendor", auth, ...more });
}

/** Statuses of parallel chats. */
async function ask(count: number): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => chat("hi", { model: "vendor/m" })));
  await Promise.all(answers.map((answer) => answer.text()));
  return answers.map(({ status }) => status);
}

const MASKED = "****";

describe("an account with OAuth 2", () => {
  it("renews its access token once for all requests, and keeps the rotated refresh token", async () => {
    expect(await addAccount(OAUTH())).toMatchObject({ status: 200, body: { identifier: "robot" } });
    expect(await ask(12)).toEqual(Array(12).fill(200));
    expect(backend.tokenRequests).toHaveLength(1);
    expect(backend.tokenRequests[0]?.form).toEqual({
      grant_type: "refresh_token",
      refresh_token: FIRST_REFRESH_TOKEN,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
    });
    const [asked] = backend.requests;
    expect(asked?.headers).toMatchObject({
      authorization: "Bearer access-token-1-0123456789",
      "x-tenant": "tenant-secret-0123456789",
    });

    backend.revokeAccessTokens();
    expect(await ask(4)).toEqual(Array(4).fill(200));
    backend.revokeAccessTokens();
    expect(await ask(1)).toEqual([200]);
    expect(backend.tokenRequests.map(({ form }) => form["refresh_token"])).toEqual([
      FIRST_REFRESH_TOKEN,
      "refresh-token-1-f6e5d4c3b2a1",
      "refresh-token-2-f6e5d4c3b2a1",
    ]);
    expect(backend.reused).toBe(0);
    // An edit of something else does not lose the rotated token.
    await admin("PUT", "/admin/accounts/robot", {
      auth: { ...OAUTH(), client_secret: MASKED, scope: "chat" },
    });
    expect(await ask(1)).toEqual([200]);
    expect(backend.tokenRequests.at(-1)?.form).toMatchObject({
      refresh_token: "refresh-token-3-f6e5d4c3b2a1",
      client_secret: CLIENT.secret,
      scope: "chat",
    });
    expect(backend.reused).toBe(0);
  });

  it("sends nothing of the provider to the token endpoint, and its secrets nowhere else", async () => {
    await admin("PUT", "/admin/settings", { captures: { enabled: true } });
    await addAccount({ ...OAUTH(), refresh_token: "", client_auth: "basic", audience: "api" });
    expect(await ask(2)).toEqual([200, 200]);
    const [{ headers, form } = { headers: {}, form: {} }] = backend.tokenRequests;
    expect(form).toEqual({ grant_type: "client_credentials", audience: "api" });
    expect(headers["x-tenant"]).toBeUndefined();
    const { body: account } = await admin("GET", "/admin/accounts/robot");
    expect(account).toMatchObject({
      has_password: false,
      has_token: true,
      token_preview: "acce****6789",
      auth: {
        type: "oauth2",
        token_url: `${backend.url}/token`,
        client_id: CLIENT.id,
        client_secret: MASKED,
      },
    });
    const views = [
      "/admin/config",
      "/admin/accounts",
      "/admin/audit?page_size=200",
      "/admin/chat-history",
      "/admin/dev/captures",
      "/admin/queue/status",
    ];
    for (const path of views) {
      const text = JSON.stringify((await admin("GET", path)).body);
      for (const secret of [CLIENT.secret, FIRST_REFRESH_TOKEN, "access-token-1-0123456789"])
        expect([path, text.includes(secret)]).toEqual([path, false]);
    }
    const { body: exported } = await admin("GET", "/admin/config/export");
    expect(JSON.stringify(exported)).toContain(CLIENT.secret);
    await admin("PUT", "/admin/settings", { captures: { enabled: false } });
  });

  it("cools down if the endpoint refuses it, and the error contains no secret", async () => {
    await addAccount({ ...OAUTH(), refresh_token: "stale-refresh-token-0123456789" });
    const refused = await chat("hi", { model: "vendor/m" });
    expect(refused.status).toBe(401);
    const text = await refused.text();
    expect(text).toContain(
      "the token endpoint refused the account's credentials (status 400: invalid_grant)",
    );
    expect(text).not.toContain("stale-refresh-token");
    expect((await admin("GET", "/admin/accounts/robot")).body).toMatchObject({
      cooldown: { kind: "invalid_credentials", reason: expect.not.stringContaining("stale-refresh-token") },
    });
  });

  it("cools down while the endpoint is down, and works afterwards", async () => {
    await addAccount(OAUTH());
    backend.tokenStatus = 503;
    const failed = await chat("hi", { model: "vendor/m" });
    expect(failed.status).toBe(503);
    expect(await failed.text()).toContain("the token endpoint failed (status 503)");
    expect((await admin("GET", "/admin/accounts/robot")).body).toMatchObject({
      cooldown: { kind: "account_suspended", reason: "the token endpoint failed (status 503)" },
    });
    backend.tokenStatus = null;
    expect((await admin("POST", "/admin/accounts/test", { identifier: "robot" })).body).toMatchObject({
      success: true,
    });
    expect(await ask(1)).toEqual([200]);
  });

  it("keeps a secret only for the endpoint that it was configured for", async () => {
    await addAccount(OAUTH());
    const { body } = await admin("GET", "/admin/accounts/robot");
    // The view may be sent back.
    expect((await admin("PUT", "/admin/accounts/robot", body)).status).toBe(200);
    expect(await ask(1)).toEqual([200]);
    const elsewhere = { ...Object(body["auth"]), token_url: "https://elsewhere.test/token" };
    expect(await admin("PUT", "/admin/accounts/robot", { auth: elsewhere })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("auth.client_secret: this is masked") },
    });
    const { client_secret: _, refresh_token: __, ...open } = elsewhere;
    expect(await admin("PUT", "/admin/accounts/robot", { auth: open })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("auth.client_secret: ") },
    });
  });

  it.each([
    [{ token_url: "https://user:word@vendor.test/token" }, "auth.token_url"],
    [{ token_url: "file:///etc/passwd" }, "auth.token_url"],
    [{ token_url: undefined }, "auth.token_url"],
    [{ region: "us-east-1" }, "auth.region"],
    [{ clientid: "x" }, "clientid"],
  ])("is refused with %j", async (change, field) => {
    expect(await addAccount({ ...OAUTH(), ...change })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining(field) },
    });
  });

  it("is refused with a password or a token", async () => {
    expect((await addAccount(OAUTH(), { password: "p" })).status).toBe(400);
    expect((await addAccount(OAUTH(), { token: "t" })).status).toBe(400);
    expect((await addAccount({ type: "api_key" }, { password: "p" })).status).toBe(400);
  });
});

describe("an account with a Google service account", () => {
  it("exchanges a signed assertion once for all requests", async () => {
    const auth = { type: "google_service_account", service_account_key: backend.keyFile };
    expect((await addAccount(auth)).status).toBe(200);
    expect(await ask(8)).toEqual(Array(8).fill(200));
    expect(backend.tokenRequests).toHaveLength(1);
    expect(backend.requests.at(-1)?.headers.authorization).toBe("Bearer access-token-1-0123456789");
    const { body } = await admin("GET", "/admin/accounts/robot");
    expect(body["auth"]).toEqual({ type: "google_service_account", service_account_key: MASKED });
    expect((await admin("POST", "/admin/accounts/test", { identifier: "robot" })).body).toMatchObject({
      success: true,
    });
  });

  it("is refused with a key file that sends its assertions anywhere", async () => {
    for (const token_uri of ["", "file:///x", "https://a:b@c.test/"]) {
      const service_account_key = JSON.stringify({ ...JSON.parse(backend.keyFile), token_uri });
      const auth = { type: "google_service_account", service_account_key };
      expect(await addAccount(auth)).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining("auth.service_account_key") },
      });
    }
  });
});

describe("a provider with Azure's ways", () => {
  it("gets the API version in the query and the key in its own header", async () => {
    const change = { api_version: "2024-10-21", key_header: "api-key", token: "an-azure-key-0123456789" };
    expect((await admin("PUT", "/admin/providers/vendor", change)).body).toMatchObject({
      api_version: "2024-10-21",
      key_header: "api-key",
    });
    expect(await ask(1)).toEqual([200]);
    const asked = backend.requests.at(-1);
    expect(asked).toMatchObject({ query: "?api-version=2024-10-21", path: "/v1/chat/completions" });
    expect(asked?.headers["api-key"]).toBe("an-azure-key-0123456789");
    expect(asked?.headers.authorization).toBeUndefined();
    // An access token is a bearer token, whatever the header of keys.
    await addAccount(OAUTH());
    expect(await ask(1)).toEqual([200]);
    expect(backend.requests.at(-1)?.headers).toMatchObject({
      authorization: "Bearer access-token-1-0123456789",
    });
    expect(backend.requests.at(-1)?.headers["api-key"]).toBeUndefined();
  });
});

describe("an account with AWS keys", () => {
  const auth = {
    type: "aws_sigv4",
    access_key_id: AWS_KEYS.accessKeyId,
    secret_access_key: AWS_KEYS.secretAccessKey,
    session_token: "session-token-0123456789",
    region: AWS_KEYS.region,
    service: AWS_KEYS.service,
  };

  it("signs each attempt with the whole body", async () => {
    expect((await addAccount(auth)).status).toBe(200);
    expect(await ask(3)).toEqual([200, 200, 200]);
    expect(backend.requests.at(-1)?.headers).toMatchObject({
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE0123\//),
      "x-amz-security-token": "session-token-0123456789",
      "x-tenant": "tenant-secret-0123456789",
    });
    expect((await admin("POST", "/admin/accounts/test", { identifier: "robot" })).body).toMatchObject({
      success: true,
    });
    // A form is sent as a stream elsewhere.
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new File(["hello"], "a.txt", { type: "text/plain" }));
    const headers = { authorization: "Bearer sk-dev", "x-gateway-provider": "vendor" };
    const uploaded = await fetch("/v1/files", { method: "POST", headers, body: form });
    expect([uploaded.status, await uploaded.text()]).toEqual([200, expect.stringContaining("a.txt")]);
    expect(backend.requests.at(-1)).toMatchObject({
      path: "/v1/files",
      body: expect.stringContaining("hello"),
    });
  });

  it("shows no secret, and keeps those that are not sent", async () => {
    await addAccount(auth);
    expect((await admin("GET", "/admin/accounts/robot")).body).toMatchObject({
      token_preview: "****",
      auth: { ...auth, secret_access_key: MASKED, session_token: MASKED },
    });
    const { secret_access_key: _, session_token: __, ...open } = auth;
    expect((await admin("PUT", "/admin/accounts/robot", { auth: open })).status).toBe(200);
    expect(await ask(1)).toEqual([200]);
    await admin("PUT", "/admin/accounts/robot", { auth: { ...open, secret_access_key: "wrong-0123456789" } });
    expect(await ask(1)).toEqual([503]);
  });
});

describe("Claude on Vertex AI", () => {
  beforeEach(async () => {
    const address = `${backend.url}/v1/projects/p/locations/l/publishers/anthropic`;
    await admin("PUT", "/admin/providers/vendor", { driver: "anthropic", base_url: address });
    await addAccount({ type: "google_service_account", service_account_key: backend.keyFile });
  });
  const MESSAGE = {
    model: "vendor/claude-sonnet-4-5@20250929",
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
  };
  const path = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929";

  it.each([
    ["rawPredict", false],
    ["streamRawPredict", true],
  ])("is asked by %s, as the caller wrote it", async (verb, stream) => {
    const answer = await post("/v1/messages", { ...MESSAGE, stream, thinking: { type: "disabled" } });
    expect([answer.status, answer.headers.get("x-gateway-path")]).toEqual([200, "native"]);
    expect(await answer.text()).toContain("Let in.");
    const asked = backend.requests.at(-1);
    expect(asked).toMatchObject({ path: `${path}:${verb}`, query: "" });
    expect(JSON.parse(asked?.body ?? "")).toEqual({
      anthropic_version: "vertex-2023-10-16",
      max_tokens: 100,
      messages: MESSAGE.messages,
      stream,
      thinking: { type: "disabled" },
    });
    expect(asked?.headers).toMatchObject({ authorization: "Bearer access-token-1-0123456789" });
    expect(asked?.headers["x-api-key"]).toBeUndefined();
  });

  it("is asked for what other styles want, too", async () => {
    const answer = await chat("hi", { model: MESSAGE.model });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Let in." } }] });
    const asked = backend.requests.at(-1);
    expect(asked?.path).toMatch(/:(?:streamR|r)awPredict$/);
    expect(Object.keys(JSON.parse(asked?.body ?? ""))).not.toContain("model");
    expect(JSON.parse(asked?.body ?? "")).toMatchObject({ anthropic_version: "vertex-2023-10-16" });
  });

  it("is not asked for a model whose name would change the address", async () => {
    for (const model of ["vendor/../x", "vendor/a/b", "vendor/a?b"])
      expect((await chat("hi", { model })).status).toBe(400);
    expect(backend.requests).toEqual([]);
  });
});
