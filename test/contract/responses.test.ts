import { describe, expect, it } from "vitest";
import { z } from "zod";
import { validateResponsesStream } from "../support/stream-validators/responses.ts";
import { useGateway } from "../support/use-gateway.ts";

const MODEL = "provider-v4-flash";
const WEATHER = {
  type: "function",
  name: "weather",
  description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const item = z.looseObject({ id: z.string() });
const pageSchema = z.looseObject({ data: z.array(item) });
const compactedSchema = z.looseObject({ output: z.array(item) });
const countSchema = z.looseObject({ input_tokens: z.int() });

interface Answer {
  readonly id: string;
  readonly status: string;
  readonly output: readonly Record<string, unknown>[];
  readonly [field: string]: unknown;
}

describe("the responses API", () => {
  const api = useGateway();

  const ask = (body: Record<string, unknown>, headers?: Record<string, string>) =>
    api.post("/v1/responses", { model: MODEL, ...body }, headers);

  async function answered(body: Record<string, unknown>): Promise<Answer> {
    const response = await ask(body);
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return JSON.parse(text);
  }

  async function streamed(body: Record<string, unknown>) {
    const response = await ask({ ...body, stream: true });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    return validateResponsesStream(text);
  }

  const read = (id: string, key = "sk-dev") =>
    api.fetch(`/v1/responses/${id}`, { headers: { authorization: `Bearer ${key}` } });

  const textOf = (answer: Answer) =>
    answer.output
      .filter(({ type }) => type === "message")
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .map(({ text }) => text)
      .join("");

  it("answers with the full response object", async () => {
    const answer = await answered({
      input: "[[say:Hello.]]",
      metadata: { a: "1" },
      instructions: "Be kind.",
    });
    expect(answer).toMatchObject({
      object: "response",
      status: "completed",
      model: MODEL,
      error: null,
      incomplete_details: null,
      instructions: "Be kind.",
      metadata: { a: "1" },
      parallel_tool_calls: true,
      previous_response_id: null,
      tool_choice: "auto",
      tools: [],
      text: { format: { type: "text" } },
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
    });
    expect(answer.id).toMatch(/^resp_/);
    expect(answer.output).toMatchObject([
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Hello.", annotations: [] }],
      },
    ]);
    expect(answer["usage"]).toMatchObject({
      input_tokens: expect.any(Number),
      output_tokens: expect.any(Number),
      output_tokens_details: { reasoning_tokens: expect.any(Number) },
    });
  });

  it("repeats the options of the request in the form of the real API", async () => {
    const { name, description, parameters } = WEATHER;
    const answer = await answered({
      input: "[[say:fine]]",
      tools: [
        { type: "function", function: { name, description, parameters } },
        { type: "function", name: "now" },
      ],
      tool_choice: { type: "auto" },
      temperature: 0.5,
      top_p: 0.9,
      presence_penalty: 0.1,
      frequency_penalty: -0.1,
      metadata: { a: 1 },
      reasoning: { effort: "low", summary: "none" },
      truncation: "sometimes",
      text: { format: { type: "json_schema", json_schema: { schema: { type: "string" } } } },
    });
    expect(answer).toMatchObject({
      tools: [
        { ...WEATHER, strict: false },
        { type: "function", name: "now", description: null, parameters: null, strict: false },
      ],
      tool_choice: "auto",
      temperature: 0.5,
      top_p: 0.9,
      presence_penalty: 0.1,
      frequency_penalty: -0.1,
      metadata: { a: "1" },
      reasoning: { effort: "low", summary: null },
      truncation: "disabled",
      text: { format: { type: "json_schema", name: "response", schema: { type: "string" } } },
    });
  });

  it.each([
    ["a string", { input: "[[say:fine]]" }],
    ["an item", { input: { role: "user", content: "[[say:fine]]" } }],
    [
      "a list of items",
      { input: [{ role: "user", content: [{ type: "input_text", text: "[[say:fine]]" }] }] },
    ],
    ["messages", { messages: [{ role: "user", content: "[[say:fine]]" }] }],
  ])("accepts its input as %s", async (_, body) => {
    expect(textOf(await answered(body))).toBe("fine");
  });

  it("answers at the root shortcut, too", async () => {
    const response = await api.post("/responses", { model: MODEL, input: "[[say:short]]" });
    const answer: Answer = await response.json();
    const again = await api.fetch(`/responses/${answer.id}`, { headers: { authorization: "Bearer sk-dev" } });
    expect(await again.json()).toEqual(answer);
  });

  it("puts the instructions before all other input", async () => {
    await answered({
      instructions: "Answer in Latin.",
      input: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
    });
    const { prompt } = await api.gateway.sandbox.lastTurn();
    expect(prompt.indexOf("Answer in Latin.")).toBeGreaterThan(-1);
    expect(prompt.indexOf("Answer in Latin.")).toBeLessThan(prompt.indexOf("Be brief."));
  });

  it("streams the same answer as the whole one", async () => {
    const body = { input: "[[think:hm]][[say:One two three.]]", reasoning: { effort: "medium" } };
    const whole = await answered(body);
    const { completion, response } = await streamed(body);
    expect(completion.text).toBe(textOf(whole));
    expect(completion.reasoning).toBe("hm");
    expect(whole.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(response["usage"]).toEqual(whole["usage"]);
  });

  it("shows no reasoning to a caller that did not request it", async () => {
    const { completion } = await streamed({ input: "[[think:secret]][[say:open]]" });
    expect(completion).toMatchObject({ reasoning: "", text: "open" });
  });

  it("answers with one or two calls, and accepts their results", async () => {
    for (const cities of [["Rome"], ["Rome", "Oslo"]]) {
      const directives = cities.map((city) => `[[call:weather:{"city":"${city}"}]]`).join("");
      const input: unknown[] = [{ role: "user", content: `${directives}[[then:Sunny.]]` }];
      const body = { input, tools: [WEATHER] };
      const { response, completion } = await streamed(body);
      const whole = await answered(body);
      expect(completion.toolCalls.map((call) => JSON.parse(call.arguments))).toEqual(
        cities.map((city) => ({ city })),
      );
      expect(whole.output.map((item) => item["arguments"])).toEqual(
        completion.toolCalls.map((call) => call.arguments),
      );
      const output = Array.isArray(response["output"]) ? response["output"] : [];
      const results = completion.toolCalls.map(({ id }) => ({
        type: "function_call_output",
        call_id: id,
        output: "25 degrees",
      }));
      const next = await answered({ ...body, input: [...input, ...output, ...results] });
      expect(textOf(next)).toContain("Sunny.");
    }
  });

  it("answers a free-text tool with a custom_tool_call, and accepts its output", async () => {
    const tools = [{ type: "custom", name: "patch", description: "Applies a patch" }];
    const input: unknown[] = [
      { role: "user", content: '[[call:patch:{"input":"*** Begin\\n+a \\"b\\""}]][[then:Done.]]' },
    ];
    const { response } = await streamed({ input, tools });
    const [call] = Array.isArray(response["output"]) ? response["output"] : [];
    expect(call).toMatchObject({ type: "custom_tool_call", name: "patch" });
    const whole = await answered({ input, tools });
    expect(whole.output).toMatchObject([{ type: "custom_tool_call", input: call.input }]);
    const output = { type: "custom_tool_call_output", call_id: call.call_id, output: "ok" };
    expect(textOf(await answered({ input: [...input, call, output], tools }))).toContain("Done.");
  });

  it("offers the tools of a namespace", async () => {
    const tools = [
      { type: "namespace", name: "mcp__crm__", description: "CRM", tools: [{ ...WEATHER, name: "find" }] },
      { type: "web_search" },
      { type: "tool_search", execution: "client" },
    ];
    const input: unknown[] = [{ role: "user", content: '[[call:find:{"city":"Rome"}]][[then:Found.]]' }];
    const answer = await answered({ input, tools });
    expect(answer.output).toMatchObject([{ type: "function_call", namespace: "mcp__crm__", name: "find" }]);
    expect((await api.gateway.sandbox.lastTurn()).prompt).toContain("mcp__crm__find");
    const result = { type: "function_call_output", call_id: answer.output[0]?.["call_id"], output: "one" };
    expect(textOf(await answered({ input: [...input, ...answer.output, result], tools }))).toContain(
      "Found.",
    );
  });

  describe("tool_choice", () => {
    it("makes a missing required call a 422, or response.failed in a stream", async () => {
      const body = { input: "[[say:No.]]", tools: [WEATHER], tool_choice: "required" };
      const response = await ask(body);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ error: { code: "tool_choice_violation" } });
      const { error, response: failed } = await streamed(body);
      expect(error?.code).toBe("tool_choice_violation");
      expect(failed["status"]).toBe("failed");
    });

    it("is met by an answer with the required call", async () => {
      const body = {
        input: "[[call:weather]]",
        tools: [WEATHER],
        tool_choice: { type: "function", name: "weather" },
      };
      expect((await answered(body)).output).toMatchObject([{ type: "function_call", name: "weather" }]);
    });

    it.each([["sometimes"], [{ type: "function" }], [{ type: "function", name: "unheard_of" }], [7]])(
      "is refused if it is %j",
      async (tool_choice) => {
        const response = await ask({ input: "hi", tools: [WEATHER], tool_choice });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          error: { type: "invalid_request_error", param: "tool_choice" },
        });
      },
    );
  });

  describe("a stored response", () => {
    it("is returned unchanged to its caller", async () => {
      const whole = await answered({ input: "[[say:kept]]" });
      expect(await (await read(whole.id)).json()).toEqual(whole);
      const { response } = await streamed({ input: "[[say:kept]]" });
      expect(await (await read(String(response["id"]))).json()).toEqual(response);
    });

    it("is not found by another caller, or under an unknown id", async () => {
      const { id } = await answered({ input: "[[say:mine]]" });
      for (const response of [await read(id, "sandbox-token-other"), await read("resp_nothing")]) {
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ error: { code: "response_not_found" } });
      }
      expect((await api.fetch(`/v1/responses/${id}`)).status).toBe(401);
    });

    it("is not stored if the request disables it", async () => {
      const answer = await answered({ input: "[[say:gone]]", store: false });
      expect(answer["store"]).toBe(false);
      expect((await read(answer.id)).status).toBe(404);
      const { response } = await streamed({ input: "[[say:gone]]", store: false });
      expect((await read(String(response["id"]))).status).toBe(404);
    });

    it("is continued by previous_response_id, without its instructions", async () => {
      const first = await answered({ input: "[[say:My name is Ada.]]", instructions: "Speak Latin." });
      const second = await streamed({ input: "[[say:Yes, Ada.]]", previous_response_id: first.id });
      const third = await answered({ input: "Who?", previous_response_id: second.completion.sessionId });
      expect(third["previous_response_id"]).toBe(second.completion.sessionId);
      const { prompt } = await api.gateway.sandbox.lastTurn();
      expect(prompt).toMatch(/My name is Ada\.[\s\S]*Yes, Ada\.[\s\S]*Who\?/);
      expect(prompt).not.toContain("Speak Latin.");
    });

    it("keeps its tool calls when it is continued", async () => {
      const first = await answered({ input: "[[call:weather]][[then:Warm.]]", tools: [WEATHER] });
      const output = { type: "function_call_output", call_id: first.output[0]?.["call_id"], output: "30" };
      const second = await answered({ input: [output], previous_response_id: first.id, tools: [WEATHER] });
      expect(textOf(second)).toContain("Warm.");
    });

    it("cannot be continued if it is unknown", async () => {
      const response = await ask({ input: "hi", previous_response_id: "resp_unknown" });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: "previous_response_not_found", param: "previous_response_id" },
      });
    });

    it("is not continued by an empty previous_response_id", async () => {
      const answer = await answered({ input: "[[say:new]]", previous_response_id: "" });
      expect(answer["previous_response_id"]).toBeNull();
    });

    it("is stored unchanged beyond 2 MB", async () => {
      const input = `[[say:big]]${"x".repeat(2_500_000)}`;
      const first = await answered({ input, instructions: "y".repeat(2_500_000) });
      expect(await (await read(first.id)).json()).toEqual(first);
      expect((await ask({ input: "more", previous_response_id: first.id })).status).toBe(200);
    });

    it("lists its input items, with all earlier turns", async () => {
      const items = async (id: string, query = "") => {
        const headers = { authorization: "Bearer sk-dev" };
        const response = await api.fetch(`/v1/responses/${id}/input_items${query}`, { headers });
        expect(response.status).toBe(200);
        return pageSchema.parse(await response.json());
      };
      const first = await answered({ input: "[[call:weather]][[then:Warm.]]", tools: [WEATHER] });
      const output = { type: "function_call_output", call_id: first.output[0]?.["call_id"], output: "30" };
      const image = `data:image/png;base64,${PIXEL}`;
      const second = await answered({
        input: [
          output,
          {
            role: "user",
            content: [
              { type: "input_text", text: "and?" },
              { type: "input_image", image_url: image },
            ],
          },
        ],
        previous_response_id: first.id,
        tools: [WEATHER],
      });
      const all = await items(second.id, "?order=asc");
      expect(all.data).toMatchObject([
        {
          type: "message",
          role: "user",
          content: [{ type: "input_text", text: "[[call:weather]][[then:Warm.]]" }],
        },
        { type: "function_call", name: "weather", status: "completed" },
        { ...output, status: "completed" },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "and?" },
            { type: "input_image", image_url: image, detail: "auto" },
          ],
        },
      ]);
      const ids = all.data.map(({ id }) => id);
      expect(all).toMatchObject({ object: "list", has_more: false, first_id: ids[0], last_id: ids[3] });
      expect((await items(second.id)).data.map(({ id }) => id)).toEqual(ids.toReversed());
      const page = await items(second.id, `?limit=2&after=${ids[3]}`);
      expect(page).toMatchObject({ has_more: true, first_id: ids[2], last_id: ids[1] });
      await answered({
        input: [
          { type: "item_reference", id: ids[0] },
          { role: "user", content: "go on" },
        ],
      });
      for (const query of ["?limit=0", "?limit=101", "?order=up", "?after=msg_unknown"]) {
        const headers = { authorization: "Bearer sk-dev" };
        const path = `/v1/responses/${second.id}/input_items${query}`;
        expect((await api.fetch(path, { headers })).status, query).toBe(400);
      }
    });

    it("can be streamed again, from any event on", async () => {
      const { events, response, completion } = await streamed({
        input: "[[think:hm]][[say:One two.]][[call:weather]]",
        tools: [WEATHER],
        reasoning: { effort: "low" },
      });
      const path = `/v1/responses/${response["id"]}?stream=true`;
      const headers = { authorization: "Bearer sk-dev" };
      const text = await (await api.fetch(path, { headers })).text();
      const again = validateResponsesStream(text);
      expect(again).toMatchObject({ response, completion });
      expect(new Set(again.events.map(({ type }) => type))).toEqual(new Set(events.map(({ type }) => type)));
      const rest = await (await api.fetch(`${path}&starting_after=3`, { headers })).text();
      expect(text.endsWith(rest)).toBe(true);
      expect(rest).toMatch(/^event: .*\ndata: .*"sequence_number":4\}\n/);
    });

    it("is deleted by its caller", async () => {
      const { id } = await answered({ input: "[[say:gone]]" });
      const remove = (path: string, key = "sk-dev") =>
        api.fetch(path, { method: "DELETE", headers: { authorization: `Bearer ${key}` } });
      expect((await remove(`/v1/responses/${id}`, "sandbox-token-other")).status).toBe(404);
      expect(await (await remove(`/responses/${id}`)).json()).toEqual({
        id,
        object: "response",
        deleted: true,
      });
      for (const response of [await read(id), await remove(`/v1/responses/${id}`)]) {
        expect(await response.json()).toMatchObject({ error: { code: "response_not_found" } });
      }
    });

    it("cannot be cancelled unless it was created in the background", async () => {
      const { id } = await answered({ input: "[[say:done]]" });
      const refused = await api.post(`/v1/responses/${id}/cancel`, {});
      expect(refused.status).toBe(400);
      expect((await api.post("/v1/responses/resp_unknown/cancel", {})).status).toBe(404);
    });

    it("cannot be continued with the result of an unknown call", async () => {
      const { id } = await answered({ input: "[[say:fine]]" });
      const output = { type: "function_call_output", call_id: "call_never", output: "?" };
      expect((await ask({ input: [output], previous_response_id: id })).status).toBe(400);
    });

    it("can be prepared without being generated", async () => {
      const ready = await answered({ input: "My name is Ada.", generate: false });
      expect(ready).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 } });
      await answered({ input: "Who am I?", previous_response_id: ready.id });
      expect((await api.gateway.sandbox.lastTurn()).prompt).toMatch(/Ada[\s\S]*Who am I\?/);
      const { response, completion } = await streamed({ input: "again", generate: false });
      expect(response).toMatchObject({ status: "completed", output: [] });
      expect(completion.text).toBe("");
    });

    it("provides its items for references", async () => {
      const first = await answered({ input: "[[say:Blue it is.]]" });
      await answered({
        input: [
          { role: "user", content: "A colour?" },
          { type: "item_reference", id: first.output[0]?.["id"] },
          { type: "item_reference", id: "msg_of_another_service" },
          { role: "user", content: "Which one?" },
        ],
      });
      const { prompt } = await api.gateway.sandbox.lastTurn();
      expect(prompt).toMatch(/A colour\?[\s\S]*Blue it is\.[\s\S]*Which one\?/);
    });
  });

  describe("a compacted conversation", () => {
    const long = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "We launch on Tuesday." },
      { role: "assistant", content: "Noted." },
      { type: "function_call", call_id: "c1", name: "weather", arguments: '{"city":"Rome"}' },
      { type: "function_call_output", call_id: "c1", output: "sunny" },
      { role: "user", content: "And then?" },
    ];

    it("contains the messages of users, and a summary of the rest", async () => {
      const response = await api.post("/v1/responses/compact", { model: MODEL, input: long });
      const compacted = compactedSchema.parse(await response.json());
      expect(compacted).toMatchObject({
        object: "response.compaction",
        output: [
          { type: "message", role: "developer" },
          { type: "message", role: "user", content: [{ type: "input_text", text: "We launch on Tuesday." }] },
          { type: "message", role: "user", content: [{ type: "input_text", text: "And then?" }] },
          { type: "compaction", encrypted_content: expect.any(String) },
        ],
      });
      expect((await api.gateway.sandbox.lastTurn()).prompt).toMatch(
        /Noted\.[\s\S]*weather[\s\S]*sunny[\s\S]*summary/,
      );
      await answered({ input: [...compacted.output, { role: "user", content: "Go on." }] });
      const { prompt } = await api.gateway.sandbox.lastTurn();
      expect(prompt).toMatch(/Tuesday[\s\S]*Summary of the conversation[\s\S]*Go on\./);
    });

    it("may be a stored one", async () => {
      const first = await answered({ input: "We launch on Tuesday." });
      const body = { model: MODEL, previous_response_id: first.id };
      const response = await api.post("/responses/compact", body);
      expect(await response.json()).toMatchObject({
        output: [{ role: "user", content: [{ text: "We launch on Tuesday." }] }, { type: "compaction" }],
      });
    });

    it("of another service is refused, as it cannot be read", async () => {
      const foreign = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAAABo" };
      const response = await ask({ input: [foreign, { role: "user", content: "Go on." }] });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: "input[0].encrypted_content" } });
    });

    it("is refused if it names no model", async () => {
      expect((await api.post("/v1/responses/compact", { input: long })).status).toBe(400);
    });
  });

  it("counts the tokens of a request", async () => {
    const count = async (body: Record<string, unknown>) => {
      const response = await api.post("/v1/responses/input_tokens", { model: MODEL, ...body });
      expect(response.status).toBe(200);
      return countSchema.parse(await response.json()).input_tokens;
    };
    const short = await count({ input: "Hi" });
    expect(short).toBeGreaterThan(0);
    expect(await count({ input: "Hi", tools: [WEATHER], instructions: "Be kind." })).toBeGreaterThan(short);
    const first = await answered({ input: "[[say:Hello.]] and so on" });
    expect(await count({ input: "Hi", previous_response_id: first.id })).toBeGreaterThan(short);
  });

  describe("failures", () => {
    it.each([
      ["neither input nor messages", {}, "input"],
      ["an empty list", { input: [] }, "input"],
      ["an unknown role", { input: [{ role: "wizard", content: "hi" }] }, "input[0].role"],
      [
        "content that cannot be read",
        { input: [{ role: "user", content: [{ type: "input_audio" }] }] },
        "input[0].content[0].type",
      ],
      ["a tool without a name", { input: "hi", tools: [{ type: "function" }] }, "tools[0].name"],
      ["an unknown model", { input: "hi", model: "no-such-model" }, "model"],
    ])("are a 400 that names the field: %s", async (_, body, param) => {
      const response = await ask(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
    });

    it("in mid-stream end with response.failed, which can be read and not be continued", async () => {
      for (const fault of ["[[cut]]", "[[reset]]", "[[garbage]]", "[[error:overloaded]]"]) {
        const { error, response } = await streamed({ input: `[[big:400]][[chunk:20]]${fault}` });
        expect(error?.code, fault).toMatch(/^upstream/);
        expect(JSON.stringify(response["output"])).toMatch(/incomplete/);
        const id = String(response["id"]);
        expect(await (await read(id)).json()).toEqual(response);
        const next = await ask({ input: "go on", previous_response_id: id });
        expect(await next.json()).toMatchObject({ error: { code: "previous_response_not_found" } });
      }
    });

    it("are a 429 for a model without output", async () => {
      const response = await ask({ input: "[[empty:always]]" });
      expect(response.status).toBe(429);
      expect(response.headers.has("retry-after")).toBe(false);
      expect(await response.json()).toMatchObject({ error: { code: "upstream_empty_output" } });
    });

    it("of a stream that had shown its reasoning are an event", async () => {
      const { error } = await streamed({ input: "[[empty:always]]", reasoning: { effort: "low" } });
      expect(error?.code).toBe("upstream_empty_output");
    });
  });

  it("ends incomplete when the model runs out of tokens", async () => {
    const whole = await answered({ input: "[[say:cut of]][[length]]" });
    expect(whole).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    const { events } = await streamed({ input: "[[say:cut of]][[length]]" });
    expect(events.at(-1)?.type).toBe("response.incomplete");
  });

  it("accepts the requests of coding agents", async () => {
    const answer = await answered({
      input: [
        {
          type: "message",
          role: "developer",
          content: [{ type: "input_text", text: "<rules>Be good.</rules>" }],
        },
        { type: "message", role: "user", content: [{ type: "input_text", text: "first" }] },
        { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: null },
        { type: "function_call", name: "shell", arguments: "{}", call_id: "call_1", status: "completed" },
        {
          type: "function_call_output",
          id: "fco_1",
          call_id: "call_1",
          output: [{ type: "input_text", text: "ok" }],
        },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
        { type: "ghost_snapshot", ghost_commit: { id: "1" } },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "done", annotations: [] }],
        },
        { type: "message", role: "user", content: [{ type: "input_text", text: "[[say:good]]" }] },
      ],
      tools: [
        { type: "function", name: "shell", strict: false, parameters: { type: "object", properties: {} } },
        { type: "web_search", external_web_access: false },
        {
          type: "custom",
          name: "apply_patch",
          format: { type: "grammar", syntax: "lark", definition: "start: x" },
        },
        { type: "image_generation" },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: { effort: "medium", summary: "auto" },
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "key",
      client_metadata: { a: "b" },
      text: { verbosity: "low" },
      truncation: "auto",
      service_tier: "auto",
      max_output_tokens: 1000,
    });
    expect(textOf(answer)).toBe("good");
  });
});

describe("the lifetime of stored responses", () => {
  const api = useGateway({
    vars: {
      GATEWAY_CONFIG_JSON: JSON.stringify({
        keys: ["sk-dev"],
        accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
        responses: { store_ttl_seconds: 2 },
      }),
    },
  });

  it("has the configured length", async () => {
    const answered = await api.post("/v1/responses", { model: MODEL, input: "[[say:brief]]" });
    const { id }: Answer = await answered.json();
    const status = async () =>
      (await api.fetch(`/v1/responses/${id}`, { headers: { authorization: "Bearer sk-dev" } })).status;
    expect(await status()).toBe(200);
    await expect.poll(status, { timeout: 5000, interval: 100 }).toBe(404);
    const next = await api.post("/v1/responses", { model: MODEL, input: "hi", previous_response_id: id });
    expect(next.status).toBe(400);
  });
});
