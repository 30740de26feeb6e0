import { describe, expect, it } from "vitest";
import { handleRequest } from "../../../../src/app.ts";
import { networkKey } from "../../../../src/core/http/client-key.ts";
import { type MemoryGateway, pass, useMemoryGateway } from "../../../support/memory-gateway.ts";

const createGateway = useMemoryGateway();
const KEY = "the-right-admin-key";

type Deployment = Pick<MemoryGateway, "platform" | "waitUntil">;

async function status(gateway: Deployment, key: string, clientAddress = "192.0.2.1"): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const request = new Request("http://gateway.test/admin/queue/status", { headers });
  const response = await handleRequest(request, {
    platform: gateway.platform,
    waitUntil: gateway.waitUntil,
    clientAddress,
  });
  return response.status;
}

describe("guesses of the admin key", () => {
  it("do not get through because the right key was just used from the same address", async () => {
    const gateway = await createGateway({ env: { ADMIN_KEY: KEY } });
    expect(await status(gateway, KEY)).toBe(200);
    for (let guess = 0; guess < 1_500; guess += 1) await status(gateway, `guess-${guess}`);
    expect(await status(gateway, KEY)).toBe(429);
    expect(await status(gateway, KEY, "192.0.2.2")).toBe(200);
    await pass(10_000);
    expect(await status(gateway, KEY)).toBe(200);
  });

  it("do not get through when they arrive all at once", async () => {
    const gateway = await createGateway({ env: { ADMIN_KEY: KEY } });
    expect(await status(gateway, KEY)).toBe(200);
    const guesses = Array.from({ length: 300 }, (_, guess) => status(gateway, `guess-${guess}`));
    expect(await status(gateway, KEY)).toBe(429);
    expect((await Promise.all(guesses)).filter((answer) => answer === 401)).toHaveLength(10);
  });

  it("are counted together for the networks of one IPv6 site", async () => {
    const gateway = await createGateway({ env: { ADMIN_KEY: KEY } });
    let passed = 0;
    for (let net = 0; net < 200; net += 1) {
      if ((await status(gateway, "guess", `2001:db8:7:${net.toString(16)}::1`)) === 401) passed += 1;
    }
    expect(passed).toBe(100);
    expect(await status(gateway, KEY, "2001:db8:8::1")).toBe(200);
  });

  it("are counted for each IPv4 address alone", () => {
    expect(["192.0.2.1", "::ffff:192.0.2.1", "", "2001:db8:7:1::1"].map(networkKey)).toEqual([
      null,
      null,
      null,
      "2001:db8:7::/48",
    ]);
  });
});

describe("the tokens of a holder of the admin key", () => {
  async function signIn(gateway: Deployment, key: string): Promise<string> {
    const request = new Request("http://gateway.test/admin/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ admin_key: key }),
    });
    const options = { platform: gateway.platform, waitUntil: gateway.waitUntil, clientAddress: "192.0.2.1" };
    const answer: unknown = await (await handleRequest(request, options)).json();
    return typeof answer === "object" && answer !== null && "token" in answer ? String(answer.token) : "";
  }

  it("end when the deployment gets another admin key", async () => {
    const gateway = await createGateway({ env: { ADMIN_KEY: KEY } });
    const token = await signIn(gateway, KEY);
    expect(await status(gateway, token)).toBe(200);
    const variables = { ...gateway.platform.variables, adminKey: "another-admin-key" };
    const restarted = { waitUntil: gateway.waitUntil, platform: { ...gateway.platform, variables } };
    expect(await status(restarted, token)).toBe(401);
    expect(await status(restarted, await signIn(restarted, "another-admin-key"))).toBe(200);
  });
});
