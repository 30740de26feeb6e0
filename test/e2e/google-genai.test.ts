import {
  ApiError,
  type CallableTool,
  FunctionCallingConfigMode,
  type FunctionDeclaration,
  GoogleGenAI,
  Type,
} from "@google/genai";
import { describe, expect, it } from "vitest";
import { useGateway } from "../support/use-gateway.ts";

const MODEL = "gemini-2.5-flash";

const WEATHER: FunctionDeclaration = {
  name: "weather",
  description: "The weather in a city",
  parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ["city"] },
};

/** A tool that the SDK calls by itself. */
function weather(asked: unknown[]): CallableTool {
  return {
    tool: async () => ({ functionDeclarations: [WEATHER] }),
    callTool: async (calls) =>
      calls.map(({ id, name, args }) => {
        asked.push(args?.["city"]);
        return {
          functionResponse: {
            ...(id === undefined ? {} : { id }),
            name: name ?? "",
            response: { output: `25 degrees in ${args?.["city"]}` },
          },
        };
      }),
  };
}

// The SDK's default is v1; older ones and command-line tools use v1beta.
describe.each([undefined, "v1beta"])("the google genai SDK, version %s", (apiVersion) => {
  const api = useGateway();
  const client = (apiKey = "sk-dev") =>
    new GoogleGenAI({
      apiKey,
      ...(apiVersion === undefined ? {} : { apiVersion }),
      httpOptions: { baseUrl: api.gateway.url, retryOptions: { attempts: 1 } },
    });

  it("generates content", async () => {
    const response = await client().models.generateContent({
      model: MODEL,
      contents: "[[think:hm]][[say:Hello there.]]",
      config: { systemInstruction: "Be kind.", thinkingConfig: { includeThoughts: true } },
    });
    expect(response.text).toBe("Hello there.");
    expect(response.candidates?.[0]?.content?.parts?.[0]).toMatchObject({ text: "hm", thought: true });
    expect(response.candidates?.[0]?.finishReason).toBe("STOP");
    expect(response.usageMetadata?.promptTokenCount).toBeGreaterThan(0);
    expect((await api.gateway.sandbox.lastTurn()).prompt).toContain("Be kind.");
  });

  it("streams content", async () => {
    const stream = await client().models.generateContentStream({
      model: MODEL,
      contents: "[[think:hm]][[say:One two three four five.]]",
    });
    const pieces: string[] = [];
    let reason: string | undefined;
    let total = 0;
    for await (const chunk of stream) {
      if (chunk.text) pieces.push(chunk.text);
      reason = chunk.candidates?.[0]?.finishReason ?? reason;
      total = chunk.usageMetadata?.totalTokenCount ?? total;
    }
    expect(pieces.join("")).toBe("One two three four five.");
    expect(pieces.length).toBeGreaterThan(1);
    expect(reason).toBe("STOP");
    expect(total).toBeGreaterThan(0);
  });

  it("keeps every turn of a chat's history, streamed or not", async () => {
    const chat = client().chats.create({ model: MODEL });
    await chat.sendMessage({ message: "[[say:My name is Ada.]]" });
    for await (const chunk of await chat.sendMessageStream({ message: "[[say:I am fine.]]" })) {
      expect(chunk.candidates).toHaveLength(1);
    }
    await chat.sendMessage({ message: "Again?" });
    const { prompt } = await api.gateway.sandbox.lastTurn();
    expect(prompt).toMatch(/My name is Ada\.[\s\S]*I am fine\.[\s\S]*Again\?/);
  });

  for (const cities of [["Rome"], ["Rome", "Oslo"]]) {
    const calls = cities.map((city) => `[[call:weather:{"city":"${city}"}]]`).join("");
    const contents = `[[text-and-call]]${calls}[[then:It is warm.]]`;

    it(`calls ${cities.length} function(s) by itself`, async () => {
      const asked: unknown[] = [];
      const response = await client().models.generateContent({
        model: MODEL,
        contents,
        config: { tools: [weather(asked)] },
      });
      expect(asked).toEqual(cities);
      expect(response.text).toContain("It is warm.");
      const { prompt } = await api.gateway.sandbox.lastTurn();
      for (const city of cities) expect(prompt).toContain(`25 degrees in ${city}`);
    });

    it(`calls ${cities.length} function(s) by itself in a stream`, async () => {
      const asked: unknown[] = [];
      const stream = await client().models.generateContentStream({
        model: MODEL,
        contents,
        config: { tools: [weather(asked)] },
      });
      let text = "";
      for await (const chunk of stream) text += chunk.text ?? "";
      expect(asked).toEqual(cities);
      expect(text).toContain("It is warm.");
    });

    it(`carries ${cities.length} call(s) and response(s) in a chat`, async () => {
      const chat = client().chats.create({
        model: MODEL,
        config: { tools: [{ functionDeclarations: [WEATHER] }] },
      });
      const first = await chat.sendMessage({ message: contents });
      expect(first.functionCalls?.map(({ args }) => args?.["city"])).toEqual(cities);
      const last = await chat.sendMessage({
        message: (first.functionCalls ?? []).map(({ id, name }) => ({
          functionResponse: { ...(id ? { id } : {}), name: name ?? "", response: { output: "25 degrees" } },
        })),
      });
      expect(last.text).toContain("It is warm.");
    });
  }

  it("raises an error for a required call that is missing", async () => {
    const request = client().models.generateContent({
      model: MODEL,
      contents: "[[say:no]]",
      config: {
        tools: [{ functionDeclarations: [WEATHER] }],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
      },
    });
    await expect(request).rejects.toMatchObject({ name: "ApiError", status: 422 });
  });

  it("counts tokens", async () => {
    const { totalTokens } = await client().models.countTokens({ model: MODEL, contents: "hello" });
    expect(totalTokens).toBeGreaterThan(0);
  });

  it("raises its own errors before the stream", async () => {
    const unknown = client().models.generateContent({ model: "no-such-model", contents: "x" });
    await expect(unknown).rejects.toBeInstanceOf(ApiError);
    await expect(unknown).rejects.toMatchObject({ status: 400 });
    await expect(
      client().models.generateContentStream({ model: MODEL, contents: "[[status:429:rate_limited]]" }),
    ).rejects.toMatchObject({ status: 429 });
  });

  it.each(["[[reset]]", "[[cut]]", "[[error:server_error]]"])(
    "raises its error when the stream breaks: %s",
    async (fault) => {
      const stream = await client().models.generateContentStream({
        model: MODEL,
        contents: `[[big:400]][[chunk:20]]${fault}`,
      });
      const read = async () => {
        for await (const _ of stream);
      };
      await expect(read()).rejects.toBeInstanceOf(ApiError);
    },
  );
});

describe("the google genai SDK, files and models", () => {
  const api = useGateway();

  it.each([undefined, "v1beta"])(
    "uploads, lists, reads, uses and deletes files, version %s",
    async (apiVersion) => {
      const { files, models } = new GoogleGenAI({
        apiKey: "sk-dev",
        ...(apiVersion === undefined ? {} : { apiVersion }),
        httpOptions: { baseUrl: api.gateway.url },
      });
      // The client sends what is longer than 8 MiB in pieces.
      const long = new Blob([new Uint8Array(9 * 1024 * 1024).fill(97)], { type: "text/plain" });
      const made = await files.upload({ file: long, config: { displayName: "Long" } });
      expect(made).toMatchObject({ displayName: "Long", sizeBytes: String(long.size), state: "ACTIVE" });
      const short = await files.upload({ file: new Blob(["hello"]), config: { mimeType: "text/plain" } });
      const { name = "", uri = "" } = made;
      const names: (string | undefined)[] = [];
      for await (const file of await files.list({ config: { pageSize: 1 } })) names.push(file.name);
      expect(names.slice(0, 2)).toEqual([short.name, name]);
      expect(await files.get({ name })).toMatchObject({ name, uri, mimeType: "text/plain" });
      await models.generateContent({
        model: MODEL,
        contents: [{ role: "user", parts: [{ text: "Read it." }, { fileData: { fileUri: uri } }] }],
      });
      expect((await api.gateway.sandbox.lastTurn()).file_ids).toEqual([name.replace("files/", "")]);
      await files.delete({ name });
      await expect(files.get({ name })).rejects.toMatchObject({ status: 404 });
    },
  );

  it.each([undefined, "v1beta"])("lists and reads models, version %s", async (apiVersion) => {
    const client = new GoogleGenAI({
      apiKey: "sk-dev",
      ...(apiVersion === undefined ? {} : { apiVersion }),
      httpOptions: { baseUrl: api.gateway.url },
    });
    const names: (string | undefined)[] = [];
    for await (const { name } of await client.models.list()) names.push(name);
    expect(names).toContain("models/provider-v4-flash");
    expect(await client.models.get({ model: MODEL })).toMatchObject({ name: `models/${MODEL}` });
  });
});
