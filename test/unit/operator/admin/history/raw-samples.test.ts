import { describe, expect, test } from "vitest";
import { ADMIN_ENV, callAdmin } from "../../../../support/memory-admin.ts";
import {
  type MemoryGateway,
  type MemoryGatewayOptions,
  pass,
  useMemoryGateway,
} from "../../../../support/memory-gateway.ts";
import { KEY } from "../../../../support/memory-platform.ts";
import { refuses, says, saysPart } from "../../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();
const gateway = (options: MemoryGatewayOptions = {}) => createGateway({ env: ADMIN_ENV, ...options });

const call = (on: MemoryGateway, method: string, path: string, body?: unknown) =>
  callAdmin(on, method, `/dev/raw-samples${path}`, body);

/** Captures a sample. Returns the response, whose body is that of a chat. */
async function capture(on: MemoryGateway, body?: object): Promise<{ response: Response; text: string }> {
  const asked = on.request("/admin/dev/raw-samples/capture", {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_ENV.ADMIN_KEY}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await pass(10_000);
  const response = await asked;
  return { response, text: await response.text() };
}

describe("a raw sample", () => {
  test.each([
    [{ message: "Hi", sample_id: "first" }, "text/event-stream", '"chat.completion.chunk"'],
    [{ stream: false }, "application/json", '"chat.completion"'],
    [undefined, "text/event-stream", "[DONE]"],
  ])("of %j is captured by a call to itself, whose answer comes back", async (body, type, text) => {
    const on = await gateway();
    const { response, text: answer } = await capture(on, body);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining(type),
    ]);
    expect(answer).toContain(text);
    const id = response.headers.get("x-gateway-sample-id") ?? "";
    expect(response.headers.get("x-gateway-sample-upstream")).toBe(`raw-samples/${id}/upstream.sse`);
    const { body: sample } = await call(on, "GET", `/${id}`);
    expect(sample).toMatchObject({
      upstream: expect.stringContaining("event:"),
      meta: { sample_id: id, provider: "sessions", rounds: [{ label: "completion", status: 200 }] },
    });
    expect((await call(on, "GET", "")).body).toMatchObject({ items: [{ sample_id: id }] });
    expect((await call(on, "DELETE", `/${id}`)).body).toEqual({ success: true });
    expect((await call(on, "GET", `/${id}`)).status).toBe(404);
  });

  test("is none if the call does not reach the provider's generations", async () => {
    const on = await gateway({
      other: ({ path }) => (path === "/api/login" ? refuses(403, "no") : undefined),
    });
    const { response, text } = await capture(on, { message: "x" });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(JSON.parse(text)).toEqual({ detail: expect.stringContaining("no upstream capture") });
    expect((await call(on, "GET", "")).body).toEqual({ items: [] });
  });

  test("is saved from captures by one selector", async () => {
    const on = await gateway({
      turns: [saysPart("one "), says("two"), says("other")],
      config: { captures: { enabled: true } },
    });
    for (const content of ["selectable", "another"])
      await (
        await on.post("/v1/chat/completions", {
          model: "deepseek-v4-flash",
          messages: [{ role: "user", content }],
        })
      ).text();
    await on.settle();
    const { items } = (await call(on, "GET", "/query?q=SELECTABLE")).body;
    expect(items).toMatchObject([{ round_count: 2, capture_ids: [expect.any(String), expect.any(String)] }]);
    const [chain] = Array.isArray(items) ? items : [];
    for (const [selector, rounds] of [
      [{ chain_key: chain.chain_key }, 2],
      [{ capture_id: chain.capture_ids[0] }, 1],
      [{ query: "selectable" }, 2],
    ] as const)
      expect((await call(on, "POST", "/save", { ...selector, sample_id: "saved" })).body).toEqual({
        success: true,
        sample_id: "saved",
        dir: "raw-samples/saved",
        meta_path: "raw-samples/saved/meta.json",
        upstream_path: "raw-samples/saved/upstream.sse",
        round_count: rounds,
      });
    expect(JSON.stringify((await call(on, "GET", "/saved")).body)).not.toMatch(new RegExp(`${KEY}|@test#`));
  });

  test.each([
    [{}, 400, "chain_key"],
    [{ chain_key: "a", query: "b" }, 400, "chain_key"],
    [{ query: "x", sample_id: "../up" }, 400, "sample_id"],
    [{ query: "x", sample_id: ".." }, 400, "sample_id"],
    [{ capture_id: "cap_none" }, 404, "capture"],
  ])("cannot be saved from %j", async (body, status, field) => {
    expect(await call(await gateway(), "POST", "/save", body)).toMatchObject({
      status,
      body: { detail: expect.stringContaining(field) },
    });
  });
});
