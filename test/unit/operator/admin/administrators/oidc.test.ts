import { describe, expect, it } from "vitest";
import { pass } from "../../../../support/memory-gateway.ts";
import { METADATA, useIdentityProvider } from "./identity-provider.ts";

const startGateway = useIdentityProvider();

/** A gateway whose administrators sign in at an identity provider that counts its requests. */
async function open(respond: () => Response = () => Response.json(METADATA)) {
  const asked: string[] = [];
  const ask = await startGateway(async (url) => {
    asked.push(url);
    return respond();
  });
  const get = (path: string, clientAddress: string, headers = {}) =>
    ask(`http://gateway.test${path}`, clientAddress, headers);
  return { asked, get };
}

describe("sign-in at an identity provider", () => {
  it("reads the metadata of the identity provider once in five minutes, for all of them", async () => {
    const { asked, get } = await open();
    const start = (host: number) => get("/admin/oidc/start", `192.0.2.${host}`);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, host) => start(host)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 302));
    expect(asked).toHaveLength(1);
    await pass(301_000);
    await start(60);
    expect(asked).toHaveLength(2);
  });

  it("reads it again a few seconds after a failure", async () => {
    let works = false;
    const { asked, get } = await open(() =>
      works ? Response.json(METADATA) : new Response("down", { status: 502 }),
    );
    for (let host = 0; host < 9; host += 1)
      expect((await get("/admin/oidc/start", `192.0.2.${host}`)).status).toBe(400);
    expect(asked).toHaveLength(1);
    works = true;
    await pass(6_000);
    expect((await get("/admin/oidc/start", "192.0.2.1")).status).toBe(302);
  });

  it("slows an address down after ten attempts, at the start and at the return", async () => {
    const { asked, get } = await open();
    const start = await get("/admin/oidc/start", "192.0.2.1");
    const cookie = start.headers.get("set-cookie")?.split(";")[0] ?? "";
    const state = new URL(start.headers.get("location") ?? "").searchParams.get("state");
    for (let attempt = 0; attempt < 30; attempt += 1)
      await get(`/admin/oidc/callback?code=guess&state=${state}`, "192.0.2.1", { cookie });
    expect(asked.filter((url) => url.endsWith("/token"))).toHaveLength(9);
    expect((await get("/admin/oidc/start", "192.0.2.1")).status).toBe(429);
    expect((await get("/admin/oidc/start", "192.0.2.2")).status).toBe(302);
  });

  it("is not slowed down by requests from pages of other sites", async () => {
    const { asked, get } = await open();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const headers = { "sec-fetch-site": "cross-site" };
      expect((await get("/admin/oidc/start", "192.0.2.1", headers)).status).toBe(403);
      expect((await get("/admin/oidc/callback?code=guess&state=guess", "192.0.2.1", headers)).status).toBe(
        302,
      );
    }
    expect(asked).toHaveLength(0);
    const site = { "sec-fetch-site": "same-origin" };
    expect((await get("/admin/oidc/start", "192.0.2.1", site)).status).toBe(302);
  });
});
