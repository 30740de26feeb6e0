import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Erasure. */

const running = useAdmin();
const { admin, post, fetch: ask } = running;

/** Uses everything that stores something of a key: history, captures, a stored response, a file, an idempotency key. */
async function leaveTraces(key: string, text: string): Promise<{ response: string; file: string }> {
  const authorization = { authorization: `Bearer ${key}` };
  const response = await post(
    "/v1/responses",
    { model: "provider-v4-flash", input: text },
    { ...authorization, "idempotency-key": "once" },
  );
  expect(response.status).toBe(200);
  const { id }: { id: string } = await response.json();
  const form = new FormData();
  form.set("purpose", "assistants");
  form.set("file", new File([text], "notes.txt", { type: "text/plain" }));
  const uploaded = await ask("/v1/files", { method: "POST", headers: authorization, body: form });
  expect(uploaded.status).toBe(200);
  const file: { id: string } = await uploaded.json();
  return { response: id, file: file.id };
}

interface Entry {
  readonly id: string;
  readonly key: string;
}

const listOf = async (path: string): Promise<readonly Entry[]> => {
  const { items }: { items: Entry[] } = await (
    await ask(path, { headers: { authorization: "Bearer admin" } })
  ).json();
  return items;
};
const history = async (key: string) =>
  (await listOf("/admin/chat-history")).filter((record) => record.key === key);
const captures = async (key: string) =>
  (await listOf("/admin/dev/captures")).filter((capture) => capture.key === key);

async function addKey(key: string, more = {}): Promise<string> {
  await admin("POST", "/admin/keys", { key, name: "a name", ...more });
  const { body } = await admin("GET", `/admin/keys/${key}`);
  return String(body["id"]);
}

describe("erasing everything of a key", () => {
  it("deletes what the SDK of OpenAI has stored", async () => {
    const id = await addKey("sk-of-the-sdk");
    const client = new OpenAI({
      apiKey: "sk-of-the-sdk",
      baseURL: `${running.gateway.url}/v1`,
      maxRetries: 0,
    });
    const stored = await client.responses.create({ model: "provider-v4-flash", input: "my words" });
    expect((await client.responses.retrieve(stored.id)).output_text).toBe(stored.output_text);
    const erased = await admin("DELETE", `/admin/keys/${id}/data`);
    expect(erased).toMatchObject({ status: 200, body: { success: true } });
    await expect(client.responses.retrieve(stored.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("deletes all of its data, also of a request that still runs, and nothing of others", async () => {
    await admin("PUT", "/admin/settings", { captures: { enabled: true, limit: 50 } });
    const [mine, other] = [await addKey("sk-mine"), await addKey("sk-other")];
    const [traces, others] = [
      await leaveTraces("sk-mine", "my words"),
      await leaveTraces("sk-other", "theirs"),
    ];
    await until(
      async () => [await history(mine), await captures(mine), await history(other)],
      (lists) => lists.every(({ length }) => length > 0),
    );
    const [capture] = await captures(mine);
    const sample = { capture_id: capture?.id, sample_id: "of-mine" };
    expect((await admin("POST", "/admin/dev/raw-samples/save", sample)).status).toBe(200);

    const running = await post(
      "/v1/chat/completions",
      {
        model: "provider-v4-flash",
        messages: [{ role: "user", content: "[[slow:800]] still running" }],
        stream: true,
      },
      { authorization: "Bearer sk-mine" },
    );
    const storing = await post(
      "/v1/responses",
      { model: "provider-v4-flash", input: "[[slow:800]] to be stored", stream: true },
      { authorization: "Bearer sk-mine", "idempotency-key": "of-the-erased" },
    );
    const erased = await admin("DELETE", `/admin/keys/${mine}/data`);
    expect(erased.status).toBe(200);
    expect(erased.body).toMatchObject({ success: true, keys: 1 });
    for (const name of ["history", "captures", "samples", "stored_objects"])
      expect(erased.body[name], name).toBeGreaterThan(0);
    await running.text();
    const lateId = /"id":"(resp_[^"]+)"/.exec(await storing.text())?.[1];

    const get = async (path: string, key: string) =>
      (await ask(path, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await get(`/v1/responses/${traces.response}`, "sk-mine")).toBe(404);
    expect(await get(`/v1/files/${traces.file}`, "sk-mine")).toBe(404);
    expect(lateId).toBeDefined();
    expect(await get(`/v1/responses/${lateId}`, "sk-mine")).toBe(404);
    expect(await get(`/v1/responses/${others.response}`, "sk-other")).toBe(200);
    expect(await get(`/v1/files/${others.file}`, "sk-other")).toBe(200);
    // What runs later is recorded again. The records before it have arrived by then.
    await (
      await post(
        "/v1/chat/completions",
        { model: "provider-v4-flash", messages: [{ role: "user", content: "later" }] },
        { authorization: "Bearer sk-mine" },
      )
    ).text();
    const records = await until(
      () => history(mine),
      (found) => found.length > 0,
    );
    expect(records).toMatchObject([{ request_preview: expect.stringContaining("later") }]);
    expect(JSON.stringify(await captures(mine))).not.toMatch(/my words|still running/);
    expect((await history(other)).length).toBeGreaterThan(0);
    const samples = await ask("/admin/dev/raw-samples/of-mine", {
      headers: { authorization: "Bearer admin" },
    });
    expect(samples.status).toBe(404);
    const audit = await admin("GET", "/admin/audit?action=/admin/keys/:key/data");
    expect(JSON.stringify(audit.body["items"])).toContain(`keys/${mine}`);
  });

  it("erases all keys of a user, only for owners", async () => {
    await admin("POST", "/admin/users", { id: "ada" });
    const ids = [await addKey("sk-ada-1", { user: "ada" }), await addKey("sk-ada-2", { user: "ada" })];
    await leaveTraces("sk-ada-1", "one");
    await leaveTraces("sk-ada-2", "two");
    await until(
      () => Promise.all(ids.map(history)),
      (lists) => lists.every(({ length }) => length > 0),
    );
    const operator = { id: "op", role: "operator", password: "a long password" };
    await admin("POST", "/admin/administrators", operator);
    const { body } = await admin("POST", "/admin/login", { name: "op", password: "a long password" }, null);
    const refused = await admin("DELETE", "/admin/users/ada/data", undefined, String(body["token"]));
    expect(refused.status).toBe(403);
    expect((await admin("DELETE", "/admin/users/ada/data")).body).toMatchObject({ keys: 2 });
    expect((await Promise.all(ids.map(history))).flat()).toEqual([]);
    expect((await admin("DELETE", "/admin/users/nobody/data")).status).toBe(404);
    expect((await admin("DELETE", "/admin/keys/nobody/data")).status).toBe(404);
  });
});
