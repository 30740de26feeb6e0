import OpenAI, { APIError } from "openai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import { ResponsesWS } from "openai/resources/responses/ws";
import { describe, expect, it } from "vitest";
import { CUT_CALL } from "../support/dialect-conversations.ts";
import { useGateway } from "../support/use-gateway.ts";

type Input = OpenAI.Responses.ResponseInput;

const WEATHER: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "weather",
  description: "The weather in a city",
  strict: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

const MODEL = "gpt-5";

const rejection = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);

describe("the openai SDK, responses", () => {
  const api = useGateway();
  const client = () => new OpenAI({ baseURL: `${api.gateway.url}/v1`, apiKey: "sk-dev", maxRetries: 0 });

  const callsOf = (response: OpenAI.Responses.Response) =>
    response.output.filter((item) => item.type === "function_call");

  it("creates a response", async () => {
    const response = await client().responses.create({
      model: MODEL,
      input: "[[say:Hello there.]]",
      instructions: "Be kind.",
    });
    expect(response.output_text).toBe("Hello there.");
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
    expect(await client().responses.retrieve(response.id)).toMatchObject({
      id: response.id,
      output: response.output,
    });
  });

  it("accumulates a stream into the response that is stored", async () => {
    const stream = client().responses.stream({
      model: MODEL,
      input: "[[think:hm]][[say:One two three four five.]]",
      reasoning: { effort: "medium", summary: "auto" },
    });
    let text = "";
    stream.on("response.output_text.delta", ({ delta }) => {
      text += delta;
    });
    let reasoning = "";
    stream.on("response.reasoning_summary_text.delta", ({ delta }) => {
      reasoning += delta;
    });
    const response = await stream.finalResponse();
    expect(text).toBe("One two three four five.");
    expect(reasoning).toBe("hm");
    expect(response.output_text).toBe(text);
    const stored = await client().responses.retrieve(response.id);
    expect(stored.output_text).toBe(text);
    expect(stored.usage).toEqual(response.usage);
  });

  it("gets an error for a call that was cut off, and no part of it", async () => {
    const request = { model: MODEL, input: `${CUT_CALL}[[length]]`, tools: [WEATHER] };
    const ended = { status: "incomplete", output: [], incomplete_details: { reason: "max_output_tokens" } };
    expect(await client().responses.create(request)).toMatchObject(ended);
    let last: unknown;
    for await (const event of await client().responses.create({ ...request, stream: true })) last = event;
    expect(last).toMatchObject({ type: "response.incomplete", response: ended });
    const events = client().responses.stream({ ...request, tools: [{ ...WEATHER, strict: false }] });
    expect(await rejection(events.done())).toBeNull();
  });

  it("gets finish_reason length for a call that was cut off in a chat", async () => {
    const { strict: _, parameters, ...named } = WEATHER;
    const request = {
      model: MODEL,
      messages: [{ role: "user" as const, content: `${CUT_CALL}[[length]]` }],
      tools: [{ type: "function" as const, function: { name: named.name, parameters: parameters ?? {} } }],
    };
    const whole = await client().chat.completions.create(request);
    expect(whole.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "" } });
    const streamed = await client().chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.finish_reason).toBe("length");
  });

  it("iterates over raw events", async () => {
    const types: string[] = [];
    const stream = await client().responses.create({ model: MODEL, input: "[[say:raw]]", stream: true });
    for await (const event of stream) types.push(event.type);
    expect(types[0]).toBe("response.created");
    expect(types.at(-1)).toBe("response.completed");
  });

  for (const cities of [["Rome"], ["Rome", "Oslo"]]) {
    const directives = cities.map((city) => `[[call:weather:{"city":"${city}"}]]`).join("");
    const question: Input = [{ role: "user", content: `${directives}[[then:It is warm.]]` }];

    async function secondTurn(first: OpenAI.Responses.Response) {
      const calls = callsOf(first);
      expect(calls.map((call) => JSON.parse(call.arguments))).toEqual(cities.map((city) => ({ city })));
      expect(new Set(calls.map((call) => call.call_id)).size).toBe(cities.length);
      const results = calls.map((call) => ({
        type: "function_call_output" as const,
        call_id: call.call_id,
        output: "25 degrees",
      }));
      const echoed = await client().responses.create({
        model: MODEL,
        input: [...question, ...toResponseInputItems(first.output), ...results],
        tools: [WEATHER],
      });
      expect(echoed.output_text).toContain("It is warm.");
      const continued = await client()
        .responses.stream({ model: MODEL, input: results, previous_response_id: first.id, tools: [WEATHER] })
        .finalResponse();
      expect(continued.output_text).toContain("It is warm.");
    }

    it(`goes through a tool round trip with ${cities.length} call(s)`, async () => {
      await secondTurn(await client().responses.create({ model: MODEL, input: question, tools: [WEATHER] }));
    });

    it(`goes through a streamed tool round trip with ${cities.length} call(s)`, async () => {
      const stream = client().responses.stream({ model: MODEL, input: question, tools: [WEATHER] });
      const snapshots: string[] = [];
      stream.on("response.function_call_arguments.delta", ({ snapshot }) => snapshots.push(snapshot));
      await secondTurn(await stream.finalResponse());
      expect(snapshots.length).toBeGreaterThanOrEqual(cities.length);
    });
  }

  it("accumulates the input of a custom tool", async () => {
    const response = await client()
      .responses.stream({
        model: MODEL,
        input: '[[call:run:{"input":"ls -l \\"a b\\""}]]',
        tools: [{ type: "custom", name: "run" }],
      })
      .finalResponse();
    expect(response.output).toMatchObject([{ type: "custom_tool_call", name: "run", input: 'ls -l "a b"' }]);
  });

  it("accumulates text, calls and text again", async () => {
    const response = await client()
      .responses.stream({
        model: MODEL,
        input: '[[say:before]][[call:weather:{"city":"Rome"}]][[say:after]]',
        tools: [WEATHER],
      })
      .finalResponse();
    expect(response.output.map(({ type }) => type)).toContain("function_call");
    expect(response.output_text).toMatch(/before\s*after/);
  });

  it("deletes, counts, compacts and lists", async () => {
    const { responses } = client();
    const { id, output } = await responses.create({ model: MODEL, input: "[[say:Blue.]]" });
    const next = await responses.create({ model: MODEL, input: "Why?", previous_response_id: id });
    const roles: unknown[] = [];
    for await (const item of responses.inputItems.list(next.id, { order: "asc", limit: 2 })) {
      roles.push("role" in item ? item.role : item.type);
    }
    expect(roles).toEqual(["user", "assistant", "user"]);
    expect((await responses.inputTokens.count({ model: MODEL, input: "Hi" })).input_tokens).toBeGreaterThan(
      0,
    );
    const compacted = await responses.compact({ model: MODEL, previous_response_id: next.id });
    const input = [...toResponseInputItems(compacted.output), { role: "user" as const, content: "Go on." }];
    expect((await responses.create({ model: MODEL, input })).status).toBe("completed");
    const types: string[] = [];
    for await (const event of await responses.retrieve(id, { stream: true, starting_after: 1 })) {
      types.push(event.type);
    }
    expect(types.at(-1)).toBe("response.completed");
    expect(types).not.toContain("response.created");
    await responses.delete(id);
    expect(await rejection(responses.retrieve(id))).toMatchObject({ status: 404 });
    expect(await rejection(responses.cancel(next.id))).toMatchObject({ status: 400 });
    expect(output).toHaveLength(1);
  });

  describe("over a WebSocket", () => {
    const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

    /** A connection of the SDK, used for one turn after another. */
    function connect(sdk = client()) {
      const socket = new ResponsesWS(sdk);
      let turn: { events: OpenAI.Responses.ResponsesServerEvent[]; done: () => void } | undefined;
      const closed = Promise.withResolvers<number>();
      // The SDK throws an error without a listener. The failure is an event, too.
      socket.on("error", () => undefined);
      socket.on("close", (code) => closed.resolve(code));
      socket.on("event", (event) => {
        turn?.events.push(event);
        if (TERMINAL.has(event.type)) turn?.done();
      });
      const ask = async (body: Omit<OpenAI.Responses.ResponsesClientEvent.ResponseCreate, "type">) => {
        const done = Promise.withResolvers<void>();
        const events: OpenAI.Responses.ResponsesServerEvent[] = [];
        turn = { events, done: done.resolve };
        socket.send({ type: "response.create", model: MODEL, ...body });
        await done.promise;
        const last = events.at(-1);
        if (last === undefined || !("response" in last)) return { events, last, id: "", text: "" };
        const { id, output } = last.response;
        const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
        const text = parts.map((part) => (part.type === "output_text" ? part.text : "")).join("");
        return { events, last, id, text };
      };
      return { socket, ask, closed: closed.promise };
    }

    it("makes one response after another, with the events of a stream", async () => {
      const { socket, ask } = connect();
      const body = { input: "[[think:hm]][[say:One two.]]", reasoning: { effort: "low" as const } };
      const first = await ask(body);
      expect(first.text).toBe("One two.");
      const streamed: string[] = [];
      for await (const { type } of await client().responses.create({ model: MODEL, stream: true, ...body })) {
        streamed.push(type);
      }
      expect(first.events.map(({ type }) => type)).toEqual(streamed);
      const second = await ask({ input: "[[say:Three.]]", stream_id: "lane" });
      expect(second.text).toBe("Three.");
      expect(second.events.every((event) => "stream_id" in event && event.stream_id === "lane")).toBe(true);
      expect((await client().responses.retrieve(first.id)).output_text).toBe("One two.");
      socket.close();
    });

    it("continues from unstored items, only if they are valid", async () => {
      const { socket, ask } = connect();
      const first = await ask({ store: false, input: "[[call:weather]][[then:Warm.]]", tools: [WEATHER] });
      const [call] = first.last !== undefined && "response" in first.last ? callsOf(first.last.response) : [];
      const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "30" };
      const going = { store: false, previous_response_id: first.id, tools: [WEATHER] };
      expect((await ask({ ...going, input: [output] })).text).toContain("Warm.");
      const elsewhere = connect();
      expect((await elsewhere.ask({ ...going, input: [output] })).last).toMatchObject({
        type: "error",
        status: 400,
        error: { code: "previous_response_not_found", param: "previous_response_id" },
      });
      elsewhere.socket.close();
      const wrong = { ...output, call_id: "call_never" };
      expect((await ask({ ...going, input: [wrong] })).last).toMatchObject({ type: "error", status: 400 });
      expect((await ask({ ...going, input: [output] })).last).toMatchObject({
        error: { code: "previous_response_not_found" },
      });
      expect((await ask({ input: "[[say:Anew.]]" })).text).toBe("Anew.");
      socket.close();
    });

    it("reports errors, and stays open", async () => {
      const { socket, ask } = connect();
      expect((await ask({ input: "hi", model: "no-such-model" })).last).toMatchObject({
        type: "error",
        status: 400,
        error: { code: "model_not_found", param: "model" },
      });
      expect((await ask({ input: "[[big:400]][[chunk:20]][[reset]]" })).last).toMatchObject({
        type: "response.failed",
      });
      for (const raw of ["{", "[]", '{"type":"response.dance"}']) {
        const answer = new Promise((resolve) => socket.once("event", resolve));
        socket.sendRaw(raw);
        expect(await answer, raw).toMatchObject({ type: "error", status: 400 });
      }
      expect((await ask({ input: "[[say:fine]]" })).text).toBe("fine");
      socket.close();
    });

    it("requires a key, and the method of a WebSocket handshake", async () => {
      const { closed } = connect(new OpenAI({ baseURL: `${api.gateway.url}/v1`, apiKey: " " }));
      expect(await closed).not.toBe(1000);
      const headers = { authorization: "Bearer sk-dev" };
      expect((await api.fetch("/v1/responses", { headers })).status).toBe(405);
    });

    it("ends a generation when its client leaves", async () => {
      const { socket } = connect();
      const began = new Promise((resolve) => socket.on("response.output_text.delta", resolve));
      socket.send({ type: "response.create", model: MODEL, input: "[[big:4000]][[chunk:20]][[slow:50]]" });
      await began;
      socket.close();
      const latest = async () => {
        const headers = { authorization: "Bearer admin" };
        const list: unknown = await (await api.fetch("/admin/chat-history", { headers })).json();
        return JSON.stringify(list).match(/"status":"(\w+)"/)?.[1];
      };
      await expect.poll(latest).toBe("cancelled");
    });
  });

  describe("raises its error", () => {
    it("for a key that is refused, a model and a response that do not exist", async () => {
      const wrong = new OpenAI({
        baseURL: `${api.gateway.url}/v1`,
        apiKey: "sandbox-token-expired",
        maxRetries: 0,
      });
      const errors = await Promise.all([
        rejection(wrong.responses.create({ model: MODEL, input: "hi" })),
        rejection(client().responses.create({ model: "nope", input: "hi" })),
        rejection(client().responses.retrieve("resp_nope")),
      ]);
      expect(errors.map((error) => (error instanceof APIError ? error.status : error))).toEqual([
        401, 400, 404,
      ]);
      expect(errors[0]).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(errors[2]).toMatchObject({ code: "response_not_found" });
    });

    it("for a required call that was not made", async () => {
      const params = {
        model: MODEL,
        input: "[[say:no]]",
        tools: [WEATHER],
        tool_choice: "required" as const,
      };
      expect(await rejection(client().responses.create(params))).toMatchObject({
        status: 422,
        code: "tool_choice_violation",
      });
      const response = await client().responses.stream(params).finalResponse();
      expect(response).toMatchObject({ status: "failed", error: { gateway_code: "tool_choice_violation" } });
    });

    it("for a stream that breaks: the response has failed", async () => {
      const response = await client()
        .responses.stream({ model: MODEL, input: "[[big:400]][[chunk:20]][[reset]]" })
        .finalResponse();
      expect(response.status).toBe("failed");
      expect(response.error?.message).not.toBe("");
    });
  });
});
