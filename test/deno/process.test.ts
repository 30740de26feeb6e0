import { afterEach, describe, expect, it } from "vitest";
import { startChatBackend } from "../support/chat-backend.ts";
import { DenoGateway } from "../support/deno.ts";
import type { GatewayOptions } from "../support/gateway.ts";
import { serve } from "../support/local-server.ts";
import { html } from "../support/pages.ts";
import { until } from "../support/until.ts";

const running: DenoGateway[] = [];

async function start(options: GatewayOptions = {}): Promise<DenoGateway> {
  const gateway = await DenoGateway.start(options);
  running.push(gateway);
  return gateway;
}

afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.close();
});

const chat = (gateway: DenoGateway, content: string, stream = true) =>
  gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", stream, messages: [{ role: "user", content }] }),
  });

const admin = (gateway: DenoGateway, path: string, method = "GET", body?: unknown) =>
  gateway.fetch(path, {
    method,
    headers: { authorization: "Bearer admin", "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe("a shutdown", () => {
  it("lets streams end, accepts nothing new, and keeps their history", async () => {
    const gateway = await start();
    const stream = (await chat(gateway, "[[slow:400]] [[big:1000]] to the end")).text();
    const ended = gateway.end("SIGTERM");
    await until(
      () =>
        gateway.fetch("/healthz").then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status !== 200,
    );
    expect(await stream).toMatch(/data: \[DONE\]\s*$/);
    expect(await ended).toBe(0);
    await gateway.startAgain();
    const list: { items: unknown[] } = await (await admin(gateway, "/admin/chat-history")).json();
    expect(list.items).toEqual([expect.objectContaining({ status: "success" })]);
  });

  it("ends what still runs after SHUTDOWN_TIMEOUT_MS with an error, and keeps its history", async () => {
    const gateway = await start({ vars: { SHUTDOWN_TIMEOUT_MS: "300" } });
    const stream = (await chat(gateway, "[[hang:3]]")).text();
    const whole = chat(gateway, "[[hang:3]] as a whole", false);
    await until(
      async () => (await admin(gateway, "/admin/chat-history")).text(),
      (list) => list.includes('"total":2'),
    );
    expect(await gateway.end("SIGTERM")).toBe(1);
    const stopped = { error: expect.objectContaining({ code: "overloaded" }) };
    const [last] = (await stream)
      .split("\n\n")
      .flatMap((event) => /^data: (\{"error".*)/.exec(event)?.[1] ?? []);
    expect(JSON.parse(last ?? "null")).toMatchObject(stopped);
    const answer = await whole;
    expect([answer.status, await answer.json()]).toMatchObject([503, stopped]);
    await gateway.startAgain();
    const { items }: { items: unknown[] } = await (await admin(gateway, "/admin/chat-history")).json();
    const failed = expect.objectContaining({
      status: "error",
      error: expect.stringContaining("being stopped"),
    });
    expect(items).toEqual([failed, failed]);
  });
});

it("does not start on a data folder that another process uses", async () => {
  const gateway = await start();
  await expect(gateway.startAgain()).rejects.toThrow("uses the data folder");
  expect((await gateway.fetch("/healthz")).status).toBe(200);
});

it("answers from its own sandbox in development without a configured provider", async () => {
  const gateway = await start({ vars: { PROVIDER_BASE_URL: "" } });
  expect(await (await chat(gateway, "[[say:From within.]]")).text()).toContain("From within.");
});

it("has no provider and no accounts of its own in production", async () => {
  const gateway = await start({ vars: { PROVIDER_BASE_URL: "", GATEWAY_DEVELOPMENT: "" } });
  // No key is configured, so every credential is the caller's own.
  const answer = await chat(gateway, "hello");
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain("PROVIDER_BASE_URL");
});

it("signs idle accounts in again, and refreshes providers' models, by itself", async () => {
  const gateway = await start({ vars: { TOKEN_REFRESH_CHECK_MS: "100" } });
  await (await chat(gateway, "hello")).text();
  const signIns = async () =>
    Object.values((await gateway.sandbox.state()).sign_ins).reduce((sum, count) => sum + count, 0);
  const before = await signIns();
  const runtime = { token_refresh_interval_hours: 0.2 / 3600 };
  expect((await admin(gateway, "/admin/settings", "PUT", { runtime })).status).toBe(200);
  await until(signIns, (count) => count > before);

  const backend = await startChatBackend({ models: ["qwen3:8b"], says: "" });
  const provider = { id: "engine", driver: "openai", base_url: backend.url, token: "sk-engine-0001" };
  const added = await admin(gateway, "/admin/providers", "POST", { ...provider, models_refresh_hours: 1 });
  expect(added.status).toBe(200);
  const models = async () => (await admin(gateway, "/admin/providers", "GET")).text();
  await until(models, (text) => text.includes('"qwen3:8b":"qwen3:8b"'));
  await backend.close();
});

it("distinguishes clients behind a trusted proxy by the last address in CLIENT_ADDRESS_HEADER", async () => {
  const gateway = await start({ vars: { CLIENT_ADDRESS_HEADER: "x-forwarded-for" } });
  const remaining = async (forwarded: string) => {
    const headers = { "x-forwarded-for": forwarded };
    const answer = await gateway.fetch("/v1/technologies/?url=http://localhost/", { headers });
    await answer.text();
    return answer.headers.get("ratelimit-remaining");
  };
  expect(await remaining("203.0.113.1")).toBe("99");
  expect(await remaining("198.51.100.7, 203.0.113.1")).toBe("98");
  expect(await remaining("203.0.113.1, 203.0.113.2")).toBe("99");
});

it("explains how to get thumbnails without a browser, and detects technologies from the HTML only", async () => {
  const site = await serve((_, response) =>
    html(response, "", '<meta name="generator" content="WordPress 6.4">'),
  );
  try {
    const gateway = await start({
      vars: { BROWSER_EXECUTABLE: "/none/such", PAGE_PRIVATE_HOSTS: site.host, DNS_OVER_HTTPS_URL: "off" },
    });
    const query = `url=${encodeURIComponent(site.origin)}`;
    const thumbnail = await gateway.fetch(`/v1/thumbs/?${query}`);
    expect(thumbnail.status).toBe(503);
    expect(await thumbnail.json()).toMatchObject({
      error: { code: "browser_unavailable", message: expect.stringContaining("BROWSER_EXECUTABLE") },
    });
    const technologies = await gateway.fetch(`/v1/technologies/?${query}`);
    expect([technologies.status, await technologies.text()]).toEqual([
      200,
      expect.stringContaining("WordPress"),
    ]);
  } finally {
    await site.close();
  }
});

it("serves the console's files and no other files of the disk", async () => {
  const gateway = await start();
  const page = await gateway.fetch("/admin");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const etag = page.headers.get("etag") ?? "";
  const again = await gateway.fetch("/admin", { headers: { "if-none-match": etag } });
  expect([etag !== "", again.status]).toEqual([true, 304]);
  const files = [...(await page.text()).matchAll(/"(\/console\/[^"]+)"/g)].flatMap(([, path]) => path ?? []);
  expect(files.length).toBeGreaterThan(1);
  for (const path of files) expect([path, (await gateway.fetch(path)).status]).toEqual([path, 200]);
  for (const path of [
    "/console/..%2f..%2fpackage.json",
    "/console/%2e%2e/%2e%2e/package.json",
    "/console/none.js",
  ])
    expect([path, (await gateway.fetch(path)).status]).toEqual([path, 404]);
});
