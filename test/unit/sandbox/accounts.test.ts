import { describe, expect, it } from "vitest";
import { SandboxBackend } from "../../../sandbox/desk.ts";
import { SandboxProvider } from "../../../sandbox/provider.ts";
import { createMemoryStores } from "../../../sandbox/shelves.ts";
import { SandboxClient } from "./client.ts";

const signIn = (client: SandboxClient, fields: Record<string, unknown>): Promise<Record<string, unknown>> =>
  client.json("POST", "/api/login", fields);

describe("sign-in", () => {
  it("gives a token that authenticates the account", async () => {
    const client = new SandboxClient("");
    const { token, expires_at } = await signIn(client, { email: "one@sandbox.test", password: "sandbox" });
    expect(Number(expires_at) - Date.now() / 1000).toBeGreaterThan(3600);
    client.token = String(token);
    expect(await client.json("GET", "/api/account")).toEqual({
      id: "one@sandbox.test",
      email: "one@sandbox.test",
      mobile: null,
      session_count: 0,
    });
  });

  it("accepts a mobile number", async () => {
    const client = new SandboxClient("");
    const { token } = await signIn(client, { mobile: "+4915112345678", password: "sandbox" });
    client.token = String(token);
    expect(await client.json("GET", "/api/account")).toMatchObject({ email: null, mobile: "+4915112345678" });
  });

  it.each([
    [{ email: "one@sandbox.test", password: "wrong" }, 401, "invalid_credentials"],
    [{ email: "one@example.com", password: "sandbox" }, 401, "invalid_credentials"],
    [{ email: "suspended@sandbox.test", password: "sandbox" }, 403, "account_suspended"],
    [{ password: "sandbox" }, 400, "invalid_request"],
    [{ email: "one@sandbox.test", mobile: "123456", password: "sandbox" }, 400, "invalid_request"],
    [{ email: "one@sandbox.test", password: 1 }, 400, "invalid_request"],
  ])("refuses %j", async (fields, status, code) => {
    const response = await new SandboxClient("").send("POST", "/api/login", fields);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });
});

describe("tokens", () => {
  it("expire after their lifetime", async () => {
    let now = 1_800_000_000_000;
    const desk = new SandboxBackend(createMemoryStores(), { now: () => now, tokenLifetimeSeconds: 60 });
    const client = new SandboxClient("", new SandboxProvider({ desk }));
    client.token = String(
      (await signIn(client, { email: "one@sandbox.test", password: "sandbox" }))["token"],
    );
    now += 59_000;
    expect((await client.send("GET", "/api/account")).status).toBe(200);
    now += 1_000;
    const response = await client.send("GET", "/api/account");
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "token_expired" } });
  });

  it("are refused if they were never issued", async () => {
    for (const token of ["", "sandbox", "sandbox.6f.1.99999999999.x", "sk-dev"]) {
      expect((await new SandboxClient(token).send("GET", "/api/account")).status).toBe(401);
    }
  });

  it("are all refused after POST /sandbox/expire, until the next sign-in", async () => {
    const client = new SandboxClient("");
    const credentials = { email: "two@sandbox.test", password: "sandbox" };
    client.token = String((await signIn(client, credentials))["token"]);
    await client.send("POST", "/sandbox/expire");
    expect((await client.send("GET", "/api/account")).status).toBe(401);
    client.token = String((await signIn(client, credentials))["token"]);
    expect((await client.send("GET", "/api/account")).status).toBe(200);
    expect(await client.json("GET", "/sandbox/state")).toMatchObject({ sign_ins: { "two@sandbox.test": 2 } });
  });

  it("expire once by directive, and a new one works for the same prompt", async () => {
    const client = new SandboxClient("");
    const credentials = { email: "two@sandbox.test", password: "sandbox" };
    client.token = String((await signIn(client, credentials))["token"]);
    expect((await client.turn("[[expired]] hello")).status).toBe(401);
    expect((await client.turn("[[expired]] hello")).status).toBe(401);
    client.token = String((await signIn(client, credentials))["token"]);
    expect((await client.turn("[[expired]] hello")).finish).toBe("stop");
  });
});
