import { type Message, Ollama, type Tool } from "ollama";
import { describe, expect, it } from "vitest";
import { useGateway } from "../support/use-gateway.ts";

const MODEL = "provider-v4-flash";
const api = useGateway();
const client = (key = "sk-dev") =>
  new Ollama({ host: api.gateway.url, headers: key === "" ? {} : { authorization: `Bearer ${key}` } });

const WEATHER: Tool = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

const ask = (content: string): Message[] => [{ role: "user", content }];

describe("the ollama SDK", () => {
  it("lists and describes models without a key", async () => {
    const { models } = await client("").list();
    expect(models.map(({ name }) => name)).toContain(MODEL);
    expect((await client("").ps()).models.map(({ name }) => name)).toContain(MODEL);
    const shown = await client("").show({ model: MODEL });
    expect(shown.capabilities).toEqual(expect.arrayContaining(["tools", "thinking"]));
    expect((await client("").version()).version).toMatch(/^\d+\./);
  });

  it("chats", async () => {
    const { message, done_reason, eval_count } = await client().chat({
      model: MODEL,
      messages: ask("[[think:hm]][[say:Hello there.]]"),
    });
    expect(message).toMatchObject({ role: "assistant", content: "Hello there.", thinking: "hm" });
    expect(done_reason).toBe("stop");
    expect(eval_count).toBeGreaterThan(0);
  });

  it("streams a chat", async () => {
    const stream = await client().chat({
      model: MODEL,
      messages: ask("[[say:One two three four five.]]"),
      stream: true,
      think: false,
    });
    const pieces: string[] = [];
    let done = false;
    for await (const part of stream) {
      if (part.message.content !== "") pieces.push(part.message.content);
      done = part.done;
    }
    expect(pieces.join("")).toBe("One two three four five.");
    expect(pieces.length).toBeGreaterThan(1);
    expect(done).toBe(true);
  });

  it("generates, whole and streamed", async () => {
    const request = { model: MODEL, prompt: "[[say:Hello there.]]", system: "Be kind." };
    expect((await client().generate(request)).response).toBe("Hello there.");
    let text = "";
    for await (const part of await client().generate({ ...request, stream: true }))
      text += part.response ?? "";
    expect(text).toBe("Hello there.");
  });

  for (const cities of [["Rome"], ["Rome", "Oslo"]]) {
    for (const stream of [false, true]) {
      it(`carries ${cities.length} call(s) and result(s) (stream: ${stream})`, async () => {
        const calls = cities.map((city) => `[[call:weather:{"city":"${city}"}]]`).join("");
        const messages = ask(`${calls}[[then:It is warm.]]`);
        const first: Message = { role: "assistant", content: "" };
        const request = { model: MODEL, messages, tools: [WEATHER] };
        const parts = stream
          ? await client().chat({ ...request, stream: true })
          : [await client().chat(request)];
        for await (const { message } of parts) {
          first.content += message.content;
          if (message.tool_calls) first.tool_calls = [...(first.tool_calls ?? []), ...message.tool_calls];
        }
        expect(first.tool_calls?.map((call) => call.function.arguments["city"])).toEqual(cities);
        messages.push(first);
        for (const city of cities) {
          messages.push({ role: "tool", tool_name: "weather", content: `25 degrees in ${city}` });
        }
        const last = await client().chat(request);
        expect(last.message.content).toContain("It is warm.");
        const { prompt } = await api.gateway.sandbox.lastTurn();
        for (const city of cities) expect(prompt).toContain(`25 degrees in ${city}`);
      });
    }
  }

  it("raises its own errors before the stream", async () => {
    await expect(client().chat({ model: "no-such-model", messages: ask("x") })).rejects.toMatchObject({
      name: "ResponseError",
      status_code: 404,
    });
    await expect(client("").chat({ model: MODEL, messages: ask("x") })).rejects.toMatchObject({
      status_code: 401,
      message: expect.stringContaining("Authorization"),
    });
    await expect(
      client().chat({ model: MODEL, messages: ask("[[status:500:oops]]"), stream: true }),
    ).rejects.toMatchObject({ status_code: 503 });
  });

  it("raises an error when the stream breaks", async () => {
    const stream = await client().chat({
      model: MODEL,
      messages: ask("[[big:400]][[chunk:20]][[reset]]"),
      stream: true,
    });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow("provider");
  });
});
