import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../../../src/core/encoding/hash.ts";
import type { FileRecord } from "../../../../src/core/ports/files.ts";
import { DRIVERS } from "../../../../src/gateway/providers/drivers.ts";
import {
  type MemoryGateway,
  type MemoryGatewayOptions,
  pass,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";
import { accountNamed, KEY } from "../../../support/memory-platform.ts";
import { type Reply, type Script, ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import {
  accountOf,
  completionsScript,
  isTurn,
  refuses,
  responsesScript,
  sessionsScript,
} from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const OTHER_KEY = "sk-other";
const TWO_KEYS = { keys: [KEY, OTHER_KEY] };

const file: FileRecord = {
  id: "file-1",
  account: "two@test",
  filename: "notes.txt",
  mediaType: "text/plain",
  purpose: "assistants",
  bytes: 5,
  createdAt: 1_800_000_000,
  expiresAt: 1_900_000_000_000,
};

/** A gateway that remembers a file of the caller with the configured key. */
async function withFile(
  options: MemoryGatewayOptions = {},
  kept: Partial<FileRecord> = {},
): Promise<MemoryGateway> {
  const gateway = await createGateway({ ...options, config: { ...TWO_KEYS, ...options.config } });
  await gateway.platform.files(await sha256Hex(KEY), 0).put({ ...file, ...kept });
  return gateway;
}

const read = (gateway: MemoryGateway, key = KEY, id = "file-1"): Promise<Response> =>
  gateway.request(`/v1/files/${id}`, { headers: { authorization: `Bearer ${key}` } });

/** Answers look-ups of files, and everything else as the protocol says. */
const lookUp = (reply: Reply): MemoryGatewayOptions => ({
  other: ({ path }) => (path.startsWith("/api/files/") ? reply : undefined),
});

const NOT_FOUND = { error: { code: "file_not_found", type: "invalid_request_error" } };

describe("a file's status", () => {
  test("is requested with the account that has the file", async () => {
    const gateway = await withFile();
    const response = await read(gateway);
    expect(await response.json()).toMatchObject({
      id: "file-1",
      object: "file",
      status: "processed",
      account_id: "two@test",
    });
    expect(gateway.upstream.to(/files/).map(accountOf)).toEqual(["two@test"]);
  });

  test("holds its slot during a look-up of 120 s", async () => {
    const record = { id: "file-1", bytes: 5, status: "pending" };
    const gateway = await withFile({
      ...lookUp({ late: 120_000, reply: { json: record } }),
      env: { FIRST_BYTE_TIMEOUT_MS: "300000" },
    });
    const answer = read(gateway);
    for (let second = 0; second < 120; second += 15) {
      await pass(14_900);
      expect(await gateway.platform.accounts.getStatus()).toMatchObject({
        in_use: 1,
        leases: [{ account: "two@test", dialect: "files" }],
      });
    }
    await pass(1_000);
    expect(await (await answer).json()).toMatchObject({ status: "pending" });
  });

  test("is a 503 if the provider does not answer within 120 s", async () => {
    const gateway = await withFile(lookUp("hang"));
    const answer = read(gateway);
    await pass(120_000);
    expect(await (await answer).json()).toMatchObject({ error: { code: "upstream_timeout" } });
    expect(gateway.upstream.to(/files/)).toMatchObject([{ outcome: "cancelled" }]);
  });

  test("ends when the client leaves", async () => {
    const gateway = await withFile(lookUp("hang"));
    const client = new AbortController();
    const headers = { authorization: `Bearer ${KEY}` };
    const answer = gateway.request("/v1/files/file-1", { headers, signal: client.signal });
    await pass(1_000);
    client.abort();
    expect((await answer).status).toBe(499);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });

  test("is read with a refreshed token if necessary", async () => {
    const gateway = await withFile({
      other: ({ path, token }) =>
        path.startsWith("/api/files/") && token.endsWith("#1") ? refuses(401, "token_expired") : undefined,
    });
    expect((await read(gateway)).status).toBe(200);
    expect(gateway.upstream.to(/files/).map(({ token }) => token)).toEqual(["two@test#1", "two@test#2"]);
  });

  test.each<[string, MemoryGatewayOptions, Partial<FileRecord>]>([
    ["when the provider has it no more", lookUp(refuses(404, "not_found")), {}],
    ["when its account is configured no more", { config: { accounts: [accountNamed("one@test")] } }, {}],
    ["when its time is over", {}, { expiresAt: 1_800_000_000_000 }],
  ])("is a 404 %s", async (_, options, kept) => {
    const gateway = await withFile(options, kept);
    const response = await read(gateway);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject(NOT_FOUND);
  });

  test.each([
    ["another caller's", OTHER_KEY, "file-1"],
    ["nobody's", KEY, "file-2"],
  ])("is a 404 for a file that is %s, and the provider is not asked", async (_, key, id) => {
    const gateway = await withFile();
    const response = await read(gateway, key, id);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject(NOT_FOUND);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("of a pass-through caller's own file is passed on to the provider", async () => {
    const gateway = await createGateway();
    const response = await read(gateway, "own-token", "file-9");
    expect(await response.json()).toMatchObject({ id: "file-9", account_id: "own-token" });
    expect(gateway.upstream.asked.map(({ token }) => token)).toEqual(["own-token", "own-token"]);
  });
});

/** Backends that answer a conversation. The others refuse every request as unknown. */
const SCRIPTS: Readonly<Record<string, () => Script>> = {
  sessions: sessionsScript,
  openai: completionsScript,
  "openai-responses": responsesScript,
};

describe.each(DRIVERS.map(({ id }) => id))("a conversation that refers to a file (%s driver)", (driver) => {
  const script = SCRIPTS[driver];

  async function asking(
    key: string,
    ids: readonly string[],
    kept: Partial<FileRecord> = {},
    target?: string,
  ) {
    const upstream = new ScriptedUpstream(script?.() ?? (() => refuses(404, "not_found")));
    const env = { PROVIDER_DRIVER: driver, PROVIDER_TOKEN: "sk-of-the-provider" };
    const gateway = await withFile({ upstream, env }, kept);
    const parts = ids.map((id) => ({ type: "file", file: { file_id: id } }));
    const messages = [{ role: "user", content: [{ type: "text", text: "Read it." }, ...parts] }];
    const headers = {
      authorization: `Bearer ${key}`,
      ...(target === undefined ? {} : { "x-gateway-target-account": target }),
    };
    const body = { model: "provider-v4-flash", messages };
    return { gateway, response: await gateway.post("/v1/chat/completions", body, { headers }) };
  }

  test.each([
    ["another caller's", OTHER_KEY, ["file-1"]],
    ["nobody's", KEY, ["file-2"]],
    ["another's beside an own one", KEY, ["file-1", "file-2"]],
  ])("is a 404 for a file that is %s, without asking the provider", async (_, key, ids) => {
    const { gateway, response } = await asking(key, ids);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "file_not_found", param: "messages" } });
    expect(gateway.upstream.asked.filter(isTurn)).toEqual([]);
  });

  test("is a 400 if the file is at another account than the pinned one", async () => {
    const { response } = await asking(KEY, ["file-1"], {}, "one@test");
    expect(response.status).toBe(400);
  });

  if (script !== undefined) {
    test("goes to the account that has the file", async () => {
      const { gateway, response } = await asking(KEY, ["file-1"]);
      expect(response.status).toBe(200);
      expect(gateway.lines).toMatchObject([{ account: "two@test" }]);
      expect(gateway.turns.map(({ body }) => body)).toEqual([expect.stringContaining("file-1")]);
    });

    test("goes to the model with vision if the file is an image", async () => {
      const { response } = await asking(KEY, ["file-1"], { mediaType: "image/png" });
      // Which model of theirs does, backends know themselves.
      const model = driver === "sessions" ? "provider-v4-vision" : "provider-v4-flash";
      expect(await response.json()).toMatchObject({ model });
    });

    test("of a pass-through caller is passed on to the provider", async () => {
      const { gateway, response } = await asking("own-token", ["file-9"]);
      expect(response.status).toBe(200);
      expect(gateway.turns.map(({ token }) => token)).toEqual(["own-token"]);
    });
    return;
  }

  test("is a 404 if the backend no longer has the file", async () => {
    for (const [key, id] of [
      [KEY, "file-1"],
      ["own-token", "file-9"],
    ] as const) {
      const { gateway, response } = await asking(key, [id]);
      expect(gateway.upstream.asked.some(({ body }) => body.includes(id))).toBe(true);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "file_not_found", param: "messages" } });
    }
  });
});
