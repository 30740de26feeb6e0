import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** The names of the functions that answers call, in the history. The provider states its calls itself. */

const { admin, fetch } = useAdmin();

const FUNCTIONS = ["get_weather", "get_time", "get_weather"];
const calls = FUNCTIONS.map((name, index) => ({
  index,
  id: `call_${index}`,
  type: "function",
  function: { name, arguments: '{"city":"Rome"}' },
}));

function answer(model: string, stream: boolean): string {
  const head = { id: "c", object: stream ? "chat.completion.chunk" : "chat.completion", created: 1, model };
  const message = { role: "assistant", content: null, tool_calls: calls };
  if (!stream)
    return JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  return `${chunk(message, null)}${chunk({}, "tool_calls")}data: [DONE]\n\n`;
}

const backend = await serve(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const { model, stream = false } = JSON.parse(text);
  const type = stream ? "text/event-stream" : "application/json";
  response.writeHead(200, { "content-type": type }).end(answer(model, stream));
});
afterAll(() => backend.close());

beforeAll(async () => {
  const base = { driver: "openai", base_url: `${backend.origin}/v1`, token: "secret-0123456789" };
  await admin("POST", "/admin/providers", { ...base, id: "native" });
  await admin("POST", "/admin/providers", { ...base, id: "translated", native: false });
});

/** Asks with a key of this history mode. Returns the finished record. */
async function recordOf(provider: string, stream: boolean, history: string) {
  await admin("DELETE", "/admin/chat-history");
  const { body: key } = await admin("POST", "/admin/keys", { history });
  const tools = ["get_weather", "get_time"].map((name) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
  }));
  const answered = await fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${key["key"]}`, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ model: `${provider}/m`, stream, tools },
      messages: [{ role: "user", content: "How is Rome?" }],
    }),
  });
  expect([answered.status, answered.headers.get("x-gateway-path")]).toEqual([200, provider]);
  expect(await answered.text()).toContain("get_time");
  const { items } = await until(
    async () => {
      const { body } = await admin("GET", "/admin/chat-history");
      const listed: { items: Record<string, unknown>[] } = { items: [], ...body };
      return listed;
    },
    (listed) => listed.items[0]?.["status"] === "success",
  );
  return items[0];
}

describe.each(["native", "translated"])("the record of a %s answer", (provider) => {
  it.each([
    ["whole", false],
    ["streamed", true],
  ])("names the functions that it calls, each once: %s", async (_, stream) => {
    expect(await recordOf(provider, stream, "full")).toMatchObject({
      ...{ path: provider, finish_reason: "tool_calls" },
      called_functions: ["get_weather", "get_time"],
    });
    const { body } = await admin("GET", "/admin/chat-history?q=get_time");
    expect(body["total"]).toBe(1);
  });

  it("names none where no texts are kept", async () => {
    const record = await recordOf(provider, true, "no_texts");
    expect(record).toMatchObject({ finish_reason: "tool_calls" });
    expect(JSON.stringify(record)).not.toContain("get_");
  });
});
