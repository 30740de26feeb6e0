import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { describe, expect, it } from "vitest";
import { CUT_CALL } from "../support/dialect-conversations.ts";
import { useGateway } from "../support/use-gateway.ts";

const MODEL = "claude-sonnet-5-5";
const api = useGateway();
const client = (extra: { maxRetries?: number } = {}) =>
  new Anthropic({ baseURL: `${api.gateway.url}/vendorb`, apiKey: "sk-dev", maxRetries: 0, ...extra });

const ask = (content: string) => ({
  model: MODEL,
  max_tokens: 1000,
  messages: [{ role: "user" as const, content }],
});

function weather(asked: string[]) {
  return betaTool({
    name: "weather",
    description: "The weather in a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    run: ({ city }) => {
      asked.push(city);
      return `25 degrees in ${city}`;
    },
  });
}

describe("the anthropic SDK", () => {
  it("creates a message", async () => {
    const request = ask("[[think:hm]][[say:Hello there.]]");
    // As its first example reads it.
    expect((await client().messages.create(request)).content[0]).toMatchObject({ text: "Hello there." });
    const message = await client().messages.create({ ...request, thinking: { type: "adaptive" } });
    expect(message.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "" },
      { type: "text", text: "Hello there.", citations: null },
    ]);
    expect(message).toMatchObject({ model: MODEL, role: "assistant", stop_reason: "end_turn" });
    expect(message.usage.input_tokens).toBeGreaterThan(0);
  });

  it("streams a message to the same end", async () => {
    const asked = ask("[[think:one two three four]][[say:One two three four five.]]");
    const request = { ...asked, thinking: { type: "adaptive" as const } };
    const stream = client().messages.stream(request);
    const pieces: string[] = [];
    stream.on("text", (piece) => pieces.push(piece));
    const streamed = await stream.finalMessage();
    const created = await client().messages.create(request);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("One two three four five.");
    expect(streamed.content).toEqual(created.content);
    expect(streamed.stop_reason).toBe(created.stop_reason);
    expect(streamed.usage).toMatchObject({
      input_tokens: created.usage.input_tokens,
      output_tokens: created.usage.output_tokens,
    });
  });

  for (const cities of [["Rome"], ["Rome", "Oslo"]]) {
    const calls = cities.map((city) => `[[call:weather:{"city":"${city}"}]]`).join("");
    const request = ask(`[[text-and-call]]${calls}[[then:It is warm.]]`);

    for (const stream of [false, true]) {
      // The runner asks for a server-side thread first, and must fall back to the whole conversation.
      it(`runs ${cities.length} tool call(s) with its runner (stream: ${stream})`, async () => {
        const asked: string[] = [];
        const runner = client().beta.messages.toolRunner({
          ...request,
          tools: [weather(asked)],
          stream,
          max_iterations: 4,
        });
        const last = await runner.runUntilDone();
        expect(asked).toEqual(cities);
        expect(last.stop_reason).toBe("end_turn");
        expect(JSON.stringify(last.content)).toContain("It is warm.");
        const { prompt } = await api.gateway.sandbox.lastTurn();
        for (const city of cities) expect(prompt).toContain(`25 degrees in ${city}`);
        expect(prompt).toContain("Let me look that up.");
      });
    }
  }

  it("accumulates tool input from its deltas", async () => {
    const input = { city: "Rome", days: [1, 2, 3], note: 'a "quoted" line\nand 🙂' };
    const stream = client().messages.stream({
      ...ask(`[[chunk:3]][[call:weather:${JSON.stringify(input)}]]`),
      tools: [{ name: "weather", input_schema: { type: "object" } }],
    });
    const message = await stream.finalMessage();
    const block = message.content.find(({ type }) => type === "tool_use");
    expect(block).toMatchObject({ name: "weather", input });
    expect(message.stop_reason).toBe("tool_use");
  });

  it("gets an error for a call that was cut off, and no part of it in a whole answer", async () => {
    const request = {
      ...ask(`${CUT_CALL}[[length]]`),
      tools: [{ name: "weather", input_schema: { type: "object" as const } }],
    };
    expect(await client().messages.create(request)).toMatchObject({ content: [], stop_reason: "max_tokens" });
    const { stop_reason } = await client().messages.stream(request).finalMessage();
    expect(stop_reason).toBe("max_tokens");
  });

  it("accepts a whole earlier turn: thinking, text, calls and results", async () => {
    const asked = ask('[[think:hm]][[say:Let me look.]][[call:weather:{"city":"Rome"}]]');
    const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
    const thinking = { type: "enabled" as const, budget_tokens: 1024 };
    const { content } = await client().messages.create({ ...asked, thinking, tools });
    const call = content.find((block) => block.type === "tool_use");
    if (call === undefined) throw new Error("no tool was called");
    const next = await client().messages.create({
      ...asked,
      model: MODEL,
      tools,
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      messages: [
        ...asked.messages,
        { role: "assistant", content },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: call.id, content: [{ type: "text", text: "25 degrees" }] },
            { type: "text", text: "Thank you." },
          ],
        },
      ],
    });
    expect(next.stop_reason).toBe("end_turn");
    expect((await api.gateway.sandbox.lastTurn()).prompt).toMatch(
      /Let me look\.[\s\S]*25 degrees[\s\S]*Thank you\./,
    );
  });

  it("counts tokens", async () => {
    const { input_tokens: plain } = await client().messages.countTokens({
      model: MODEL,
      messages: [{ role: "user", content: "hello" }],
    });
    const { input_tokens: more } = await client().messages.countTokens({
      model: MODEL,
      system: "word ".repeat(100),
      messages: [{ role: "user", content: "hello" }],
    });
    expect(more).toBeGreaterThan(plain + 50);
  });

  it("lists the models in one page", async () => {
    const ids: string[] = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain(MODEL);
    expect(await client().models.retrieve(MODEL)).toMatchObject({ id: MODEL });
  });

  it("raises its own errors before the stream", async () => {
    await expect(client().messages.create({ ...ask("x"), model: "claude-2.1" })).rejects.toThrow(
      Anthropic.BadRequestError,
    );
    const stream = client().messages.stream(ask("[[status:429:rate_limited]]"));
    await expect(stream.finalMessage()).rejects.toThrow(Anthropic.RateLimitError);
    const nobody = new Anthropic({ baseURL: `${api.gateway.url}/vendorb`, apiKey: " ", maxRetries: 0 });
    await expect(nobody.messages.create(ask("x"))).rejects.toThrow(Anthropic.AuthenticationError);
  });

  it.each(["[[reset]]", "[[cut]]", "[[error:server_error]]"])(
    "raises its error when the stream breaks: %s",
    async (fault) => {
      const stream = client().messages.stream(ask(`[[big:400]][[chunk:20]]${fault}`));
      await expect(stream.finalMessage()).rejects.toThrow(Anthropic.APIError);
    },
  );
});
