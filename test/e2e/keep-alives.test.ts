import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import { describe, expect, it } from "vitest";
import { validateContentGenerationStream } from "../support/stream-validators/content-generation.ts";
import { validateMessagesStream } from "../support/stream-validators/messages.ts";
import { validateModelRunnerStream } from "../support/stream-validators/model-runner.ts";
import { useGateway } from "../support/use-gateway.ts";

const api = useGateway({ vars: { KEEP_ALIVE_MS: "20" } });
const TEXT = "One two three four five six.";
const SLOW = `[[think:hm]][[say:${TEXT}]][[stall:150]][[slow:70]]`;
/** Fails after keep-alives only, when the headers have long been sent. */
const LATE_FAILURE = "[[stall:150]][[error:server_error:0]]";

const dialects = [
  {
    name: "message",
    keepAlive: /event: ping\n/g,
    validate: validateMessagesStream,
    raw: (content: string) =>
      api.post("/messages", {
        model: "claude-sonnet-4-6",
        messages: [{ role: "user", content }],
        thinking: { type: "adaptive" },
        stream: true,
      }),
    read: async (content: string) => {
      const client = new Anthropic({
        baseURL: `${api.gateway.url}/vendorb`,
        apiKey: "sk-dev",
        maxRetries: 0,
      });
      const messages = [{ role: "user" as const, content }];
      return client.messages.stream({ model: "claude-sonnet-4-6", max_tokens: 100, messages }).finalText();
    },
    failure: Anthropic.APIError,
  },
  {
    name: "content-generation",
    keepAlive: /(?:^|\n)\n(?=\n|data:)/g,
    validate: validateContentGenerationStream,
    raw: (text: string) =>
      api.post("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", {
        contents: [{ parts: [{ text }] }],
        generationConfig: { thinkingConfig: { includeThoughts: true } },
      }),
    read: async (contents: string) => {
      const client = new GoogleGenAI({ apiKey: "sk-dev", httpOptions: { baseUrl: api.gateway.url } });
      let text = "";
      const stream = await client.models.generateContentStream({ model: "gemini-2.5-flash", contents });
      for await (const chunk of stream) text += chunk.text ?? "";
      return text;
    },
    failure: ApiError,
  },
  {
    name: "local-runner",
    keepAlive: / (?=[ {])/g,
    validate: validateModelRunnerStream,
    raw: (content: string) =>
      api.post("/api/chat", { model: "provider-v4-flash", messages: [{ role: "user", content }] }),
    read: async (content: string) => {
      const client = new Ollama({ host: api.gateway.url, headers: { authorization: "Bearer sk-dev" } });
      const messages = [{ role: "user", content }];
      let text = "";
      for await (const part of await client.chat({ model: "provider-v4-flash", messages, stream: true })) {
        text += part.message.content;
      }
      return text;
    },
    failure: Error,
  },
];

describe.each(dialects)("keep-alives of the $name style", ({ keepAlive, validate, raw, read, failure }) => {
  it("are sent while the provider is silent, and are valid", async () => {
    const text = await (await raw(SLOW)).text();
    expect(text.match(keepAlive)?.length ?? 0).toBeGreaterThan(1);
    expect(validate(text).completion).toMatchObject({ text: TEXT, reasoning: "hm", error: null });
  });

  it("are invisible to the SDK", async () => {
    expect(await read(SLOW)).toBe(TEXT);
  });

  it("do not hide a later failure", async () => {
    const response = await raw(LATE_FAILURE);
    expect(response.status).toBe(200);
    expect(validate(await response.text()).completion.error).toEqual(expect.any(String));
    await expect(read(LATE_FAILURE)).rejects.toBeInstanceOf(failure);
  });
});
