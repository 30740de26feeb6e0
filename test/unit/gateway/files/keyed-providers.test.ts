import { describe, expect, test } from "vitest";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { completionsScript } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const STORED = { id: "file-there", bytes: 5, filename: "a.txt", purpose: "user_data", status: "processed" };

/** A chat-completions backend that stores one file. */
function backend(): ScriptedUpstream {
  const other = ({ path, method }: UpstreamRequest) => {
    if (path.endsWith("/files") && method === "POST")
      return { json: { ...STORED, created_at: 1_800_000_000 } };
    return path.endsWith("/files/file-there") ? { json: STORED } : undefined;
  };
  return new ScriptedUpstream(completionsScript({ other }));
}

const DEFAULT = { PROVIDER_DRIVER: "openai", PROVIDER_TOKEN: "sk-of-the-provider" };
const BACKEND = { id: "backend", driver: "openai", base_url: "http://backend.test/v1", token: "k" };

async function upload(
  gateway: MemoryGateway,
  key = KEY,
  further: Record<string, string> = {},
): Promise<Response> {
  const body = new FormData();
  body.append("file", new File(["hello"], "a.txt", { type: "text/plain" }));
  return gateway.request("/v1/files", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...further },
    body,
  });
}

const file = (gateway: MemoryGateway, id: string, key = KEY, method = "GET") =>
  gateway.request(`/v1/files/${id}`, { method, headers: { authorization: `Bearer ${key}` } });

const ask = (gateway: MemoryGateway, model: string, id: string, key = KEY) =>
  gateway.post(
    "/v1/chat/completions",
    { model, messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }] },
    { headers: { authorization: `Bearer ${key}` } },
  );

describe("files of the default provider with an API key", () => {
  test.each([KEY, "own-token"])("have ids of the gateway (%s)", async (key) => {
    const upstream = backend();
    const gateway = await createGateway({ upstream, env: DEFAULT });
    const { id }: { id: string } = await (await upload(gateway, key)).json();
    expect(id).toMatch(/^file-[\da-f]{32}$/);
    expect(await (await file(gateway, id, key)).json()).toMatchObject({ id, status: "processed" });
    expect((await ask(gateway, "provider-v4-flash", id, key)).status).toBe(200);
    expect(gateway.turns.at(-1)?.body).toContain('{"file_id":"file-there"}');
    expect((await file(gateway, id, key, "DELETE")).status).toBe(200);
    expect(upstream.asked.at(-1)).toMatchObject({ method: "DELETE", path: "/files/file-there" });
    expect((await file(gateway, id, key)).status).toBe(404);
    expect((await ask(gateway, "provider-v4-flash", id, key)).status).toBe(404);
  });

  test("keep the provider's ids if a pass-through caller uploaded them elsewhere", async () => {
    const gateway = await createGateway({ upstream: backend(), env: DEFAULT });
    expect(await (await file(gateway, "file-there", "own-token")).json()).toMatchObject({ id: "file-there" });
    expect((await file(gateway, "file-there")).status).toBe(404);
  });
});

describe("a deployment without a default provider", () => {
  test("stores files at the first enabled provider", async () => {
    const off = { ...BACKEND, id: "off", base_url: "http://off.test/v1", enabled: false };
    const upstream = backend();
    const gateway = await createGateway({
      upstream,
      env: { PROVIDER_BASE_URL: "" },
      config: { accounts: [], keys: [KEY], providers: [off, BACKEND] },
    });
    const { id }: { id: string } = await (await upload(gateway)).json();
    expect(upstream.asked.at(-1)).toMatchObject({ host: "backend.test", path: "/v1/files", token: "k" });
    expect((await ask(gateway, "backend/engine", id)).status).toBe(200);
  });
});

describe("a provider that is no longer configured", () => {
  test("leaves files that are a 404 and can be deleted", async () => {
    const gateway = await createGateway({
      upstream: backend(),
      config: { keys: [KEY], providers: [BACKEND] },
    });
    const { id }: { id: string } = await (
      await upload(gateway, KEY, { "x-gateway-provider": "backend" })
    ).json();
    await gateway.platform.configuration.update((config) => ({ ...config, providers: [] }));
    expect((await file(gateway, id)).status).toBe(404);
    expect((await ask(gateway, "provider-v4-flash", id)).status).toBe(404);
    expect((await file(gateway, id, KEY, "DELETE")).status).toBe(200);
    const listed = await gateway.request("/v1/files", { headers: { authorization: `Bearer ${KEY}` } });
    expect(await listed.text()).not.toContain(id);
  });
});

describe("a conversation", () => {
  test("is limited in the number of files that it names", async () => {
    const gateway = await createGateway({ upstream: backend(), env: DEFAULT });
    const content = Array.from({ length: 1_001 }, (_, n) => ({ type: "file", file: { file_id: `f${n}` } }));
    const body = { model: "provider-v4-flash", messages: [{ role: "user", content }] };
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(400);
    expect(gateway.upstream.asked).toEqual([]);
  });
});

describe("a file without a media type", () => {
  test.each([
    ["a.PDF", "", "application/pdf"],
    ["a.png", "application/octet-stream", "image/png"],
    ["a.png", "image/webp", "image/webp"],
    ["a", "application/octet-stream", "application/octet-stream"],
    ["a.unknown", "", "application/octet-stream"],
  ])("gets a type from its name: %s, stated as %j, is %s", async (name, type, expected) => {
    const upstream = backend();
    const gateway = await createGateway({ upstream, env: DEFAULT });
    const body = new FormData();
    body.append("file", new File(["hello"], name, { type }));
    const headers = { authorization: `Bearer ${KEY}` };
    await gateway.request("/v1/files", { method: "POST", headers, body });
    expect(upstream.asked.at(-1)?.body).toContain(`Content-Type: ${expected}\r\n`);
  });
});
