import { beforeEach, describe, expect, it } from "vitest";
import { signLink } from "../../../src/core/auth/signed-links.ts";
import { keyDigest, keyIdentifier } from "../../../src/core/config/api-keys.ts";
import { apiKeySchema } from "../../../src/core/config/schemas/key-schema.ts";
import type { CaptureRequest } from "../../../src/core/ports/page-browser.ts";
import { type MemoryGateway, pass, START_OF_TIME, useMemoryGateway } from "../../support/memory-gateway.ts";
import { fakeBrowser } from "../../support/page-browser.ts";

const OPERATOR = "sk-operator-0123456789";
const PAGE = "url=example.com";
const createGateway = useMemoryGateway();

describe("a key of the page service", () => {
  let gateway: MemoryGateway;
  let asked: readonly (readonly [CaptureRequest, string])[];
  let counted: string[];

  beforeEach(async () => {
    const browser = fakeBrowser();
    asked = browser.captures;
    counted = [];
    const countCall = async (client: string, limit: number) => {
      counted.push(client);
      return { allowed: false, limit, remaining: 0, resetSeconds: 60 };
    };
    gateway = await createGateway({
      env: { ADMIN_KEY: "admin" },
      pages: { browser, countCalls: countCall },
      config: {
        keys: [],
        api_keys: [
          { key: OPERATOR, limits: { requests_per_minute: 3 } },
          { key: "sk-unlimited" },
          { key: "sk-disabled", disabled: true },
          { key: "sk-expired", expires: START_OF_TIME - 1 },
          { key: "sk-elsewhere", networks: ["198.51.100.0/24"] },
          { key: "sk-chat-only", dialects: ["messages"] },
        ],
      },
    });
  });

  const errorOf = async (response: Response) => {
    const { error }: { error: { code: string; param: string | null; message: string } } = JSON.parse(
      await response.text(),
    );
    return { status: response.status, ...error };
  };

  it("counts calls for its own limit instead of the address's, in the query or a header", async () => {
    const headers = [{}, { authorization: `Bearer ${OPERATOR}` }, { "x-api-key": OPERATOR }];
    for (const [index, one] of headers.entries()) {
      const query = index === 0 ? `${PAGE}&key=${OPERATOR}` : PAGE;
      const response = await gateway.request(`/v1/thumbs?${query}`, { headers: one });
      expect(response.status).toBe(200);
      expect(response.headers.get("ratelimit-limit")).toBe("3");
      expect(response.headers.get("ratelimit-remaining")).toBe(String(2 - index));
      expect(response.headers.get("cache-control")).toMatch(/^private, max-age=86400/);
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      await response.arrayBuffer();
    }
    const refused = await gateway.request(`/v1/thumbs?${PAGE}&key=${OPERATOR}`);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await errorOf(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    const chat = await gateway.request("/v1/models", { headers: { authorization: `Bearer ${OPERATOR}` } });
    expect(chat.status).toBe(200);
    expect(counted).toEqual([]);
    const [use] = await gateway.platform.accounts.listSubjectUsage();
    expect(use?.minute.requests).toBe(3);
    await pass(61_000);
    expect((await gateway.request(`/v1/thumbs?${PAGE}&key=${OPERATOR}`)).status).toBe(200);
  });

  it("counts all addresses of a list or none", async () => {
    const post = (...urls: readonly string[]) =>
      gateway.request(`/v1/thumbs?key=${OPERATOR}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ urls }),
      });
    const answers = [];
    for (const count of [4, 2, 2, 1]) {
      const response = await post(...Array.from({ length: count }, (_, n) => `example.com/${n}`));
      answers.push([response.status, response.headers.get("ratelimit-remaining")]);
      await response.arrayBuffer();
    }
    expect(answers).toEqual([
      [429, "3"],
      [202, "1"],
      [429, "1"],
      [202, "0"],
    ]);
  });

  it("never counts for another subject, even if its id resembles the name of one", async () => {
    const limits = { requests_per_minute: 2 };
    const likeTeam = await createGateway({
      pages: { browser: fakeBrowser() },
      config: {
        keys: [],
        api_keys: [{ key: OPERATOR, id: "team:core", limits }],
        teams: [{ id: "core", limits }],
      },
    });
    for (let call = 0; call < 2; call++)
      expect((await likeTeam.request(`/v1/thumbs?${PAGE}&key=${OPERATOR}`)).status).toBe(200);
    const { accounts } = likeTeam.platform;
    expect(await accounts.listSubjectUsage("team:core")).toEqual([]);
    const use = await accounts.listSubjectUsage("key:team:core");
    expect(use.map(({ minute }) => minute.requests)).toEqual([2]);
  });

  it("is unlimited without a limit of requests", async () => {
    for (let call = 0; call < 5; call++) {
      const response = await gateway.request(`/v1/thumbs?${PAGE}&key=sk-unlimited`);
      expect([response.status, response.headers.get("ratelimit-limit")]).toEqual([200, null]);
    }
  });

  it("does not reach the page, the picture's cache key, or the log", async () => {
    await gateway.request(`/v1/thumbs?${PAGE}&key=${OPERATOR}&size=og`);
    await gateway.request(`/v1/thumbs?${PAGE}&key=sk-unlimited&size=og`);
    // The second was found where the first was kept.
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(asked)).not.toContain("sk-");
    expect(JSON.stringify(gateway.lines)).not.toContain("sk-");
    expect(gateway.lines.at(0)).toMatchObject({ key: expect.stringMatching(/^key_/) });
    expect(asked[0]?.[1]).toMatch(/^key:key_/);
  });

  it.each([
    ["sk-unknown", 401, "invalid_api_key"],
    ["", 401, "invalid_api_key"],
    ["sk-disabled", 401, "invalid_api_key"],
    ["sk-expired", 401, "invalid_api_key"],
    ["sk-elsewhere", 403, "permission_denied"],
    ["sk-chat-only", 403, "permission_denied"],
  ])("that is invalid, %j, is a %d, and counts for the caller's address", async (key, status, code) => {
    const allowing = await createGateway({
      pages: {
        browser: fakeBrowser(),
        countCalls: async (client, limit) => {
          counted.push(client);
          return { allowed: true, limit, remaining: 0, resetSeconds: 60 };
        },
      },
      config: (await gateway.platform.configuration.read()).config,
    });
    const response = await allowing.request(`/v1/thumbs?${PAGE}&key=${key}`);
    expect(await errorOf(response)).toMatchObject({ status, code });
    expect(counted).toEqual(["192.0.2.1"]);
    expect((await gateway.request(`/v1/thumbs?${PAGE}&key=${key}`)).status).toBe(429);
  });

  it("is not assumed for an unknown value in a header, which may be for the provider", async () => {
    const headers = { authorization: "Bearer a-token-of-the-provider" };
    expect((await gateway.request(`/v1/thumbs?${PAGE}`, { headers })).status).toBe(429);
    expect(counted).toEqual(["192.0.2.1"]);
  });

  describe("signs links that", () => {
    let open: (query: URLSearchParams | string, path?: string) => Promise<Response>;
    beforeEach(async () => {
      const { config } = await gateway.platform.configuration.read();
      const countCall = async (_: string, limit: number) => ({
        allowed: true,
        limit,
        remaining: 0,
        resetSeconds: 1,
      });
      const browser = fakeBrowser();
      asked = browser.captures;
      const allowing = await createGateway({ pages: { browser, countCalls: countCall }, config });
      open = (query, path = "/v1/thumbs") => allowing.request(`${path}?${query}`);
    });

    async function link(change: Record<string, string> = {}, key = OPERATOR): Promise<URLSearchParams> {
      const entry = apiKeySchema.parse({ key });
      const query = new URLSearchParams({
        url: "example.com",
        size: "og",
        keyId: await keyIdentifier(entry),
        expires: String(START_OF_TIME / 1_000 + 600),
        ...change,
      });
      query.set("signature", await signLink(await keyDigest(entry), "/v1/thumbs", query));
      return query;
    }

    it("show a picture for the key until they expire, also with a trailing slash", async () => {
      const query = await link();
      const response = await open(query, "/v1/thumbs/");
      expect(response.status).toBe(200);
      expect(response.headers.get("ratelimit-limit")).toBe("3");
      expect(response.headers.get("cache-control")).toBe("public, max-age=600");
      await pass(590_000);
      const later = await open(query);
      expect(["age", "cache-control"].map((name) => later.headers.get(name))).toEqual([
        "590",
        "public, max-age=600",
      ]);
      await pass(10_000);
      expect(await errorOf(await open(query))).toMatchObject({
        status: 403,
        code: "link_expired",
        param: "expires",
      });
    });

    it.each([
      ["url", "example.org"],
      ["size", "l"],
      ["full", "true"],
      ["expires", "9999999999"],
      ["signature", "AAAA"],
      ["keyId", "key_0000000000000000"],
    ])("are refused with another %s", async (name, value) => {
      const query = await link();
      query.set(name, value);
      expect(await errorOf(await open(query))).toMatchObject({ status: 403, code: "signature_invalid" });
      expect(asked).toEqual([]);
    });

    it.each(["keyId", "expires", "signature"])("are refused without their %s", async (name) => {
      const query = await link();
      query.delete(name);
      expect(await errorOf(await open(query))).toMatchObject({ status: 400, param: name });
    });

    it.each(["sk-disabled", "sk-expired"])("are refused if the key is %s", async (key) => {
      expect(await errorOf(await open(await link({}, key)))).toMatchObject({
        status: 403,
        code: "signature_invalid",
      });
    });

    it("are refused if their expiry is not a time", async () => {
      for (const expires of ["soon", "-1", "NaN"]) {
        expect((await open(await link({ expires }))).status).toBe(403);
      }
    });

    it("the admin API creates, by key or by id", async () => {
      const post = (body: unknown) =>
        gateway.post("/admin/page-links", body, { headers: { authorization: "Bearer admin" } });
      const id = await keyIdentifier(apiKeySchema.parse({ key: OPERATOR }));
      for (const key of [OPERATOR, id]) {
        const answer = await post({ key, query: { url: "example.com/?a=b&c", full: true }, expires_in: 60 });
        const { path, url, expires } = JSON.parse(await answer.text());
        expect([url, expires]).toEqual([`http://gateway.test${path}`, START_OF_TIME / 1_000 + 60]);
        expect(path).not.toContain(OPERATOR);
        const response = await open(path.split("?")[1]);
        expect([response.status, response.headers.get("x-page-url")]).toEqual([
          200,
          "http://example.com/?a=b&c",
        ]);
      }
      expect((await post({ key: "sk-unknown", query: { url: "example.com" } })).status).toBe(404);
      expect((await post({ key: id, query: {} })).status).toBe(400);
      expect((await post({ key: id, query: { url: "example.com", expires: 1 } })).status).toBe(400);
    });
  });
});
