import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { type SandboxServer, startSandbox } from "../support/sandbox-server.ts";
import { startTestProxy, type TestProxy } from "../support/test-proxy.ts";
import { until } from "../support/until.ts";

const CREDENTIALS = { username: "user", password: "proxy-password-1" };

let sandbox: SandboxServer;
let gateway: Gateway;
const proxies: Record<string, TestProxy> = {};

/** One chat completion on the account that is bound to a proxy of this kind. */
const chat = (kind: string, text: string, extra: object = {}, signal?: AbortSignal) =>
  gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: {
      authorization: "Bearer sk-proxied",
      "content-type": "application/json",
      "x-gateway-target-account": `${kind}@sandbox.test`,
    },
    body: JSON.stringify({
      model: "provider-v4-flash-nothinking",
      messages: [{ role: "user", content: text }],
      ...extra,
    }),
    ...(signal === undefined ? {} : { signal }),
  });

beforeAll(async () => {
  sandbox = await startSandbox();
  proxies["http"] = await startTestProxy({ type: "http", credentials: CREDENTIALS });
  proxies["socks5"] = await startTestProxy({ type: "socks5", credentials: CREDENTIALS });
  const config = {
    api_keys: [{ key: "sk-proxied" }],
    accounts: ["http", "socks5", "broken", "direct"].map((kind) => ({
      email: `${kind}@sandbox.test`,
      password: "sandbox",
      proxy_id: kind === "direct" ? "" : kind,
    })),
    proxies: [
      ...(["http", "socks5"] as const).map((type) => ({
        id: type,
        type,
        host: "127.0.0.1",
        port: proxies[type]?.port,
        ...CREDENTIALS,
      })),
      {
        id: "broken",
        type: "http",
        host: "127.0.0.1",
        port: proxies["http"].port,
        username: "user",
        password: "wrong",
      },
    ],
  };
  gateway = await startGateway({
    vars: {
      PROVIDER_BASE_URL: sandbox.url,
      GATEWAY_CONFIG_JSON: JSON.stringify(config),
      KEEP_ALIVE_MS: "200",
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await sandbox.close();
  await proxies["http"]?.close();
  await proxies["socks5"]?.close();
});

describe.each(["http", "socks5"])("an account that is bound to a proxy, %s", (kind) => {
  const targets = () => proxies[kind]?.targets ?? [];

  it("goes through it with everything, and streams as it comes", async () => {
    const before = targets().length;
    const response = await chat(kind, "[[say:one two three four five]][[chunk:4]][[slow:60]]", {
      stream: true,
    });
    expect(response.status).toBe(200);
    let reads = 0;
    for await (const _ of response.body ?? []) reads += 1;
    expect(reads).toBeGreaterThan(1);
    // Sign-in, session and turn.
    expect(targets().length - before).toBe(3);
    expect(new Set(targets())).toEqual(new Set([new URL(sandbox.url).host]));
    const state = await sandbox.control.state();
    expect(state.sign_ins[`${kind}@sandbox.test`]).toBe(1);
  });

  it("uploads a long prompt through it", async () => {
    const response = await chat(kind, `[[say:read]] ${"a long story ".repeat(20_000)}`);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "read" } }] });
    expect((await sandbox.control.lastTurn()).file_ids.length).toBeGreaterThan(0);
  });

  it("is cancelled when the client leaves", async () => {
    const leaving = new AbortController();
    const response = await chat(kind, "[[hang:3]]", { stream: true }, leaving.signal);
    await response.body?.getReader().read();
    expect(proxies[kind]?.open).toBe(1);
    leaving.abort();
    await until(
      async () => proxies[kind]?.open,
      (open) => open === 0,
    );
  });
});

describe("other accounts", () => {
  it("do not use the proxies of the first ones", async () => {
    const before = [proxies["http"]?.targets.length, proxies["socks5"]?.targets.length];
    expect((await chat("direct", "[[say:direct]]")).status).toBe(200);
    expect([proxies["http"]?.targets.length, proxies["socks5"]?.targets.length]).toEqual(before);
  });

  it("are never used without their proxy if it refuses them, and reveal no password", async () => {
    const response = await chat("broken", "x");
    expect(response.status).toBe(503);
    const body = await response.text();
    expect(body).toContain("the proxy refused the user name or the password");
    expect(body).not.toContain("wrong");
    const state = await sandbox.control.state();
    expect(state.sign_ins["broken@sandbox.test"]).toBeUndefined();
  });
});
