import { beforeEach, describe, expect, it } from "vitest";
import type { HistorySummary } from "../../src/core/ports/archive.ts";
import { until } from "../support/until.ts";
import { useGateway } from "../support/use-gateway.ts";

interface HistoryList {
  readonly items: HistorySummary[];
  readonly total: number;
  readonly limit: number;
}

const context = useGateway();
const { fetch, post, chat } = context;
const ADMIN = { authorization: "Bearer admin" };
const admin = (path: string, method = "GET", body?: unknown) =>
  fetch(`/admin/chat-history${path}`, {
    method,
    headers: ADMIN,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const list = async (query = ""): Promise<HistoryList> => (await admin(query)).json();
const record = async (id: string | undefined): Promise<Record<string, unknown>> =>
  (await admin(`/${id}`)).json();
/** The list once it has `count` records and none of them streams. */
const settledList = (count: number) =>
  until(list, ({ items }) => items.length === count && items.every(({ status }) => status !== "streaming"));

describe("the server-side history", () => {
  beforeEach(async () => {
    await admin("", "DELETE");
    await admin("/settings", "PUT", { limit: 200 });
  });

  it("archives every dialect, newest request first, with the caller's source", async () => {
    const source = (name: string) => ({ "x-gateway-source": name });
    await chat("first", {}, source("chat"));
    await post("/v1/responses", { model: "gpt-4o", input: "second" }, source("responses"));
    await post(
      "/vendorb/v1/messages",
      { model: "modelb-sonnet-4-5", max_tokens: 100, messages: [{ role: "user", content: "third" }] },
      source("messages"),
    );
    await post(
      "/v1beta/models/gemini-2.5-pro:generateContent",
      { contents: [{ role: "user", parts: [{ text: "fourth" }] }] },
      source("content"),
    );
    const { items, total, limit } = await settledList(4);
    expect(total).toBe(4);
    expect(limit).toBe(200);
    expect(items.map((item) => [item.dialect, item.source, item.request_preview, item.status])).toEqual([
      ["content-generation", "content", "fourth", "success"],
      ["messages", "messages", "third", "success"],
      ["responses", "responses", "second", "success"],
      ["chat-completions", "chat", "first", "success"],
    ]);
    expect(items[3]).toMatchObject({
      status_code: 200,
      model: "provider-v4-flash",
      requested_model: "provider-v4-flash",
      account: expect.stringMatching(/@sandbox\.test$/),
      attempts: 1,
      prompt_tokens: expect.any(Number),
    });
  });

  it("archives administrators' tests of the API", async () => {
    await fetch("/admin/test", {
      method: "POST",
      headers: { ...ADMIN, "x-gateway-source": "console" },
      body: JSON.stringify({ message: "tested" }),
    });
    const { items } = await settledList(1);
    expect(items[0]).toMatchObject({ request_preview: "tested", source: "console", status: "success" });
  });

  it("keeps the provider's answer unchanged, with its tool calls and citations", async () => {
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const call = await chat('[[say:Before ]][[call:look:{"at":"it"}]]', { tools });
    expect(await call.json()).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { name: "look" } }] } }],
    });
    await chat("[[citations]]", { stream: true }).then((response) => response.text());
    const { items } = await settledList(2);
    expect((await record(items[0]?.id))["content"]).toContain("[citation:1]");
    const kept = await record(items[1]?.id);
    expect(kept["content"]).toContain("tool_calls>");
    expect(kept["messages"]).toEqual([{ role: "user", parts: [{ type: "text", text: expect.any(String) }] }]);
    expect(kept["prompt"]).toContain("[[call:look");
    expect(kept).toMatchObject({ status: "success", finish_reason: "tool_calls" });
  });

  it("is refreshed while an answer streams", async () => {
    const response = await chat("[[say:one two three four five six seven eight]][[chunk:4]][[slow:250]]", {
      model: "provider-v4-flash-nothinking",
      stream: true,
    });
    const reading = response.text();
    const streaming = await until(list, ({ items }) => (items[0]?.response_preview.length ?? 0) > 4);
    expect(streaming.items[0]).toMatchObject({ status: "streaming", completed_at: 0 });
    const early = await record(streaming.items[0]?.id);
    expect("one two three four five six seven eight".startsWith(String(early["content"]))).toBe(true);
    await reading;
    const { items } = await settledList(1);
    expect(items[0]).toMatchObject({ status: "success", elapsed_ms: expect.any(Number) });
    expect((await record(items[0]?.id))["content"]).toBe("one two three four five six seven eight");
  });

  it("finds refused requests by status, code and model: one record for equal ones, beside the real ones", async () => {
    await chat("answered");
    for (let sent = 0; sent < 3; sent += 1) {
      const refused = await chat("hello", { model: "my-own:13b" });
      expect(refused.status).toBe(400);
      await refused.text();
    }
    await chat("hello", { messages: "none" }).then((response) => response.text());
    const found = await until(
      () => list("?code=model_not_found&model=my-own:13b&status=error"),
      ({ items }) => items[0]?.refusals === 3,
    );
    expect(found).toMatchObject({
      total: 1,
      items: [{ requested_model: "my-own:13b", status_code: 400, key: expect.stringMatching(/./) }],
    });
    expect(await record(found.items[0]?.id)).toMatchObject({ messages: [], content: "", options: null });
    const invalid = await until(
      () => list("?code=invalid_request"),
      ({ items }) => items.length === 1,
    );
    expect(invalid.items[0]).toMatchObject({ refusals: 1, requested_model: "provider-v4-flash" });
    const { items } = await settledList(3);
    expect(items.filter(({ refusals }) => refusals === undefined)).toMatchObject([
      { request_preview: "answered", status: "success" },
    ]);
  });

  it("has one record of the requests that a limit of their key refuses, without their texts", async () => {
    const created = await fetch("/admin/keys", {
      method: "POST",
      headers: { ...ADMIN, "content-type": "application/json" },
      body: JSON.stringify({ name: "limited", limits: { requests_per_minute: 1 } }),
    });
    const { key, id }: Record<string, string> = await created.json();
    const limited = { authorization: `Bearer ${key}` };
    expect((await chat("admitted", {}, limited)).status).toBe(200);
    const exceedLimit = async () => {
      for (const stream of [false, true, false, true]) {
        const refused = await chat("over the limit", { stream }, limited);
        expect(refused.status).toBe(429);
        await refused.text();
      }
    };
    const listWithRefusals = (count: number) =>
      until(list, ({ items }) => items.some(({ refusals }) => refusals === count));
    await exceedLimit();
    await listWithRefusals(4);
    await exceedLimit();
    await listWithRefusals(8);
    await exceedLimit();
    const { items } = await listWithRefusals(12);
    expect(items).toMatchObject([
      {
        refusals: 12,
        status_code: 429,
        error_code: "rate_limit_exceeded",
        error: expect.stringContaining("requests per minute"),
        requested_model: "provider-v4-flash",
        key: id,
        key_name: "limited",
        request_preview: "",
      },
      { request_preview: "admitted", status: "success" },
    ]);
    expect(await record(items[0]?.id)).toMatchObject({ messages: [], prompt: "", options: null });
  });

  it("keeps failures with their status, in one record per request", async () => {
    expect((await chat("[[empty:always]]")).status).toBe(429);
    expect((await chat("[[status:500:server_error]]")).status).toBe(503);
    const { items } = await settledList(2);
    expect(items.map((item) => [item.status, item.status_code])).toEqual([
      ["error", 503],
      ["error", 429],
    ]);
    expect(items[0]?.error).not.toBe("");
    expect(items[1]?.attempts).toBe(2);
  });

  it("records that a generation was cancelled when its caller left", async () => {
    const leaving = new AbortController();
    const response = await fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
      body: JSON.stringify({
        model: "provider-v4-flash",
        stream: true,
        messages: [{ role: "user", content: "[[big:20000]][[chunk:50]][[slow:50]]" }],
      }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    const { items } = await settledList(1);
    expect(items[0]).toMatchObject({ status: "cancelled", status_code: 499 });
  });

  it("keeps no secret and no attachment", async () => {
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await post("/v1/chat/completions", {
      model: "provider-v4-vision",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
          ],
        },
      ],
    });
    const { items } = await settledList(1);
    const text = await (await admin(`/${items[0]?.id}`)).text();
    for (const secret of ["sk-dev", "sandbox-token", '"sandbox"', png]) expect(text).not.toContain(secret);
    expect(text).toContain('"base64_length"');
  });

  it("deletes one record, and all", async () => {
    await chat("a");
    await chat("b");
    const { items } = await settledList(2);
    const id = items[0]?.id;
    expect(await (await admin(`/${id}`, "DELETE")).json()).toEqual({ success: true });
    for (const method of ["GET", "DELETE"]) {
      const gone = await admin(`/${id}`, method);
      expect(gone.status).toBe(404);
      expect(await gone.json()).toEqual({ detail: expect.stringContaining("does not exist") });
    }
    expect((await list()).items.map((item) => item.id)).toEqual([items[1]?.id]);
    expect(await (await admin("", "DELETE")).json()).toEqual({ success: true, deleted: 1 });
    expect((await list()).total).toBe(0);
  });

  it("stays cleared of requests that have just ended or still run, and keeps later ones", async () => {
    // All accounts are signed in: what follows takes less than the history waits for more to tell.
    await Promise.all(["a", "b", "c"].map((text) => chat(text)));
    await settledList(3);
    const words = "[[say:one two three four five six seven eight]][[chunk:4]][[slow:250]] runs";
    const running = chat(words, { model: "provider-v4-flash-nothinking", stream: true });
    const reading = running.then((response) => response.text());
    expect((await chat("[[late:200]] ended")).status).toBe(200);
    expect(await (await admin("", "DELETE")).json()).toMatchObject({ success: true });
    await chat("after");
    await settledList(1);
    await reading;
    await chat("last");
    const { items, total } = await until(list, (now) => now.items[0]?.request_preview === "last");
    expect([items.map((item) => item.request_preview), total]).toEqual([["last", "after"], 2]);
    await settledList(2);
    expect(await (await admin("", "DELETE")).json()).toEqual({ success: true, deleted: 2 });
  });

  it("pages and filters records", async () => {
    await chat("apples", {}, { "x-gateway-source": "fruit" });
    await chat("pears", {}, { "x-gateway-source": "fruit" });
    await chat("stones");
    await settledList(3);
    expect(await list("?page=2&page_size=1&q=fruit")).toMatchObject({
      total: 2,
      page: 2,
      page_size: 1,
      total_pages: 2,
      items: [{ request_preview: "apples" }],
    });
  });

  it("filters the list, and exports the result", async () => {
    await chat("=1+1 is asked", {}, { "x-gateway-source": "sheet" });
    await chat("[[status:500:server_error]]", {}, { "x-gateway-source": "sheet" });
    await post("/v1/responses", { model: "gpt-4o", input: "other" });
    await settledList(3);
    const asked = async (query: string) => (await list(query)).items.map((item) => item.request_preview);
    expect(await asked("?status=error&code=5xx")).toEqual(["[[status:500:server_error]]"]);
    expect(await asked("?dialect=responses&model=gpt-4o,other&from=2020-01-01")).toEqual(["other"]);
    expect(await asked("?source=sheet&status=success,cancelled")).toEqual(["=1+1 is asked"]);
    expect(await asked("?to=1000")).toEqual([]);
    for (const wrong of ["?status=failed", "?code=4", "?from=yesterday", "?min_ms=-1"]) {
      expect([wrong, (await admin(wrong)).status]).toEqual([wrong, 400]);
    }

    const csv = await admin("/export?format=csv&source=sheet");
    expect(csv.headers.get("content-type")).toContain("text/csv");
    const lines = (await csv.text()).trimEnd().split("\r\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^id,created_at,status,/);
    expect(lines[2]).toContain(",'=1+1 is asked,");
    const plain = (await (await admin("/export?source=sheet")).text()).trimEnd().split("\n");
    expect(plain.map((line) => JSON.parse(line).status)).toEqual(["error", "success"]);
    const whole = JSON.parse(
      await (await admin("/export?texts=true&status=success&dialect=responses")).text(),
    );
    expect(whole).toMatchObject({ messages: [{ role: "user" }], prompt: expect.stringContaining("other") });
  });

  it("keeps the configured number of records, and none if off", async () => {
    for (const text of ["a", "b", "c"]) await chat(text);
    await settledList(3);
    expect(await (await admin("/settings", "PUT", { limit: 2 })).json()).toEqual({ success: true, limit: 2 });
    expect((await list()).items.map((item) => item.request_preview)).toEqual(["c", "b"]);
    await admin("/settings", "PUT", { limit: 0 });
    expect(await list()).toMatchObject({ items: [], limit: 0 });
    expect((await chat("d")).status).toBe(200);
    await admin("/settings", "PUT", { limit: 10 });
    await chat("e");
    expect((await settledList(1)).items[0]?.request_preview).toBe("e");
    const wrong = await admin("/settings", "PUT", { limit: -1 });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toEqual({ detail: expect.stringContaining("limit") });
  });
});
