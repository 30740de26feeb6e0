import { describe, expect, it } from "vitest";
import { type Config, configSchema } from "../../../../../src/core/config/schema.ts";
import { assertSecretsStay } from "../../../../../src/operator/admin/editing/secret-audience.ts";

const ACCOUNT = { email: "a@example.com", token: "sk-account-1234" };
const OAUTH = { type: "oauth2", client_id: "c", client_secret: "a-client-secret" };

/** A configuration with one account, and a proxy that reads what is not encrypted. */
const withAccount = (account: object): Config =>
  configSchema.parse({
    accounts: [account],
    proxies: [{ id: "reader", name: "", type: "http", host: "192.0.2.1", port: 8080 }],
  });

/** Whether an operator may send an account of the default provider through the proxy. */
function mayBind(account: object, defaultAddress: string): boolean {
  try {
    const bound = withAccount({ ...account, proxy_id: "reader" });
    assertSecretsStay(withAccount({ ...account, proxy_id: "" }), bound, defaultAddress);
    return true;
  } catch {
    return false;
  }
}

describe("the secrets of an account of the default provider", () => {
  it("do not go through a proxy that reads them", () => {
    expect(mayBind(ACCOUNT, "http://engine.example/v1")).toBe(false);
    expect(mayBind({ email: "a@example.com", password: "a-password" }, "http://engine.example/v1")).toBe(
      false,
    );
  });

  it("do not go to a token endpoint without encryption through it", () => {
    const auth = { ...OAUTH, token_url: "http://identity.example/token" };
    expect(mayBind({ email: "a@example.com", auth }, "https://api.example/v1")).toBe(false);
  });

  it("go through a proxy that cannot read them", () => {
    const auth = { ...OAUTH, token_url: "https://identity.example/token" };
    expect(mayBind(ACCOUNT, "https://api.example/v1")).toBe(true);
    expect(mayBind({ email: "a@example.com", auth }, "https://api.example/v1")).toBe(true);
  });

  it("go through any proxy if nothing outside receives them, or if there are none", () => {
    expect(mayBind(ACCOUNT, "")).toBe(true);
    expect(mayBind({ email: "a@example.com", token: "none" }, "http://engine.example/v1")).toBe(true);
  });
});
