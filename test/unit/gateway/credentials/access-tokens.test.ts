import { generateKeyPairSync } from "node:crypto";
import { jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import type { AccountAuth } from "../../../../src/core/config/schemas/account-auth-schema.ts";
import type { SignInResult } from "../../../../src/core/ports/accounts.ts";
import type { Fetch } from "../../../../src/core/ports/upstream.ts";
import { requestServiceAccountToken } from "../../../../src/gateway/credentials/google-service-account.ts";
import { requestOAuthToken } from "../../../../src/gateway/credentials/oauth2.ts";

/** Access tokens from a token endpoint. */

const NOW = 1_800_000_000_000;
const URL_OF_TOKENS = "https://tokens.example/token";
const SECRETS = /the client's secret|refresh-old|sk-echoed/;

interface TokenRequest {
  readonly url: string;
  readonly authorization: string | null;
  readonly form: Readonly<Record<string, string>>;
}

/** A token endpoint that gives one answer, and what it was asked. */
function endpoint(answer: () => Response): { fetch: Fetch; asked: TokenRequest[] } {
  const asked: TokenRequest[] = [];
  return {
    asked,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const form = Object.fromEntries(new URLSearchParams(await request.text()));
      asked.push({ url: request.url, authorization: request.headers.get("authorization"), form });
      return answer();
    },
  };
}

const AUTH: AccountAuth = {
  type: "oauth2",
  token_url: URL_OF_TOKENS,
  client_id: "a client",
  client_secret: "the client's secret",
};
const issues = (more: object) => () => Response.json({ access_token: "access", ...more });

async function ask(
  auth: AccountAuth,
  answer: () => Response,
): Promise<{ result: SignInResult; asked: TokenRequest | undefined }> {
  const { fetch, asked } = endpoint(answer);
  const { signal } = new AbortController();
  return { result: await requestOAuthToken(auth, fetch, NOW, signal), asked: asked[0] };
}

describe("an access token of OAuth 2", () => {
  test.each<[string, Partial<AccountAuth>, TokenRequest]>([
    [
      "the client's own credentials",
      { scope: "a b", audience: "api", resource: "https://api.example" },
      {
        url: URL_OF_TOKENS,
        authorization: null,
        form: {
          grant_type: "client_credentials",
          client_id: "a client",
          client_secret: "the client's secret",
          scope: "a b",
          audience: "api",
          resource: "https://api.example",
        },
      },
    ],
    [
      "a refresh token",
      { refresh_token: "refresh-old" },
      {
        url: URL_OF_TOKENS,
        authorization: null,
        form: {
          grant_type: "refresh_token",
          refresh_token: "refresh-old",
          client_id: "a client",
          client_secret: "the client's secret",
        },
      },
    ],
    [
      "credentials in a header, which are encoded twice",
      { client_auth: "basic" },
      {
        url: URL_OF_TOKENS,
        authorization: `Basic ${Buffer.from("a+client:the+client%27s+secret").toString("base64")}`,
        form: { grant_type: "client_credentials" },
      },
    ],
  ])("is requested with %s", async (_, more, expected) => {
    const { asked } = await ask({ ...AUTH, ...more }, issues({}));
    expect(asked).toEqual(expected);
  });

  test.each([
    [3_600, NOW / 1000 + 3_600],
    ["3600.0", NOW / 1000 + 3_600],
    [1e15, NOW / 1000 + 315_360_000],
    [-1, 0],
    ["soon", 0],
    [undefined, 0],
  ])("with the lifetime %s ends at %i", async (expires_in, expiresAt) => {
    const { result } = await ask(AUTH, issues({ expires_in }));
    expect(result).toEqual({ token: "access", expiresAt });
  });

  test.each([
    ["a new refresh token replaces the old one", "refresh-new", true],
    ["the same refresh token stays", "refresh-old", false],
    ["an empty one is none", "", false],
  ])("with a new refresh token: %s", async (_, refresh_token, isRotated) => {
    const { result } = await ask({ ...AUTH, refresh_token: "refresh-old" }, issues({ refresh_token }));
    expect(result.rotation).toEqual(
      isRotated ? { replaced: "refresh-old", refreshToken: "refresh-new" } : undefined,
    );
  });

  test.each<[string, () => Response, object]>([
    [
      "a wrong secret, which is not repeated",
      () => Response.json({ error: "invalid_client", error_description: "sk-echoed" }, { status: 401 }),
      { kind: "invalid_credentials", message: expect.stringContaining("status 401: invalid_client") },
    ],
    [
      "a code that could be a secret",
      () => Response.json({ error: "sk-echoed" }, { status: 400 }),
      { kind: "invalid_credentials", message: expect.stringContaining("(status 400)") },
    ],
    [
      "too many requests",
      () => new Response("", { status: 429, headers: { "retry-after": "7" } }),
      { kind: "rate_limited", retryAfter: 7 },
    ],
    ["a failing endpoint", () => new Response("sk-echoed", { status: 500 }), { kind: "account_suspended" }],
    ["an answer without a token", () => Response.json({ token: "sk-echoed" }), { kind: "account_suspended" }],
    ["an answer that is no JSON", () => new Response("sk-echoed"), { kind: "account_suspended" }],
    [
      "no connection",
      () => {
        throw new TypeError("sk-echoed");
      },
      { kind: "account_suspended" },
    ],
  ])("that is refused with %s blames the account", async (_, answer, expected) => {
    const error: unknown = await ask(AUTH, answer).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ProviderError", ...expected });
    expect(error instanceof Error && error.message).not.toMatch(SECRETS);
  });
});

describe("an access token of a Google service account", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const keyFile = (more: object = {}) =>
    JSON.stringify({
      type: "service_account",
      client_email: "robot@project.example",
      private_key_id: "key-1",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: URL_OF_TOKENS,
      ...more,
    });
  const request = async (service_account_key: string) => {
    const { fetch, asked } = endpoint(issues({ expires_in: 60 }));
    const auth: AccountAuth = { type: "google_service_account", service_account_key };
    const result = await requestServiceAccountToken(auth, fetch, NOW, new AbortController().signal);
    return { result, asked };
  };

  test("is obtained with an assertion that the account's key has signed", async () => {
    const { result, asked } = await request(keyFile());
    expect(result).toEqual({ token: "access", expiresAt: NOW / 1000 + 60 });
    const { assertion = "", grant_type } = asked[0]?.form ?? {};
    expect(grant_type).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const verified = await jwtVerify(assertion, publicKey, {
      audience: URL_OF_TOKENS,
      issuer: "robot@project.example",
      currentDate: new Date(NOW),
    });
    expect(verified).toMatchObject({
      protectedHeader: { alg: "RS256", kid: "key-1" },
      payload: { scope: "https://www.googleapis.com/auth/cloud-platform", sub: "robot@project.example" },
    });
  });

  test.each([
    ["that is no JSON", "no JSON"],
    ["whose key is broken", keyFile({ private_key: "-----BEGIN PRIVATE KEY-----\nAAAA\n" })],
  ])("is not requested with a key file %s", async (_, file) => {
    await expect(request(file)).rejects.toMatchObject({ kind: "invalid_credentials" });
  });
});
