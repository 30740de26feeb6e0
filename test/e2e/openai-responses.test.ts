import OpenAI, { APIError } from "openai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import { describe, expect, it } from "vitest";
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

  describe("raises its error", () => {
    const rejection = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);

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
