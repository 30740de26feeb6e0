import { canonicalChat, validateChatCompletionsStream } from "./stream-validators/chat-completions.ts";
import { argumentsOf, type CanonicalCompletion } from "./stream-validators/completion.ts";
import { canonicalTextCompletion, validateCompletionsStream } from "./stream-validators/completions.ts";
import { canonicalContent, validateContentGenerationStream } from "./stream-validators/content-generation.ts";
import { canonicalMessage, validateMessagesStream } from "./stream-validators/messages.ts";
import { canonicalRunner, validateModelRunnerStream } from "./stream-validators/model-runner.ts";
import { completionOf, validateResponsesStream } from "./stream-validators/responses.ts";

/** One step of a conversation, independent of a dialect. */
export type Step =
  /** `image` is the base64 of a PNG. */
  | { readonly user: string; readonly image?: string }
  | {
      readonly assistant: string;
      readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: object }[];
    }
  | { readonly result: string; readonly id: string; readonly name: string };

/** A request, independent of a dialect. */
export interface DialectConversation {
  readonly system?: string;
  readonly tools?: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: object;
  }[];
  readonly steps: readonly Step[];
}

/** Receiver of requests: a running gateway, or one in memory. */
export interface Api {
  post(path: string, body: unknown): Promise<Response>;
}

/** A minimal client of one dialect: writes requests and reads answers. */
export interface DialectClient {
  readonly name: string;
  send(api: Api, conversation: DialectConversation, stream: boolean): Promise<Response>;
  streamed(text: string): CanonicalCompletion;
  whole(body: unknown): CanonicalCompletion;
}

const MODEL = "provider-v4-flash";

const functions = (conversation: DialectConversation) =>
  conversation.tools?.map(({ name, description, schema }) => ({
    type: "function",
    function: { name, description, parameters: schema },
  }));

const chat: DialectClient = {
  name: "chat-completions",
  send: (api, conversation, stream) =>
    api.post("/v1/chat/completions", {
      model: MODEL,
      stream,
      // Some backends think only on request.
      reasoning_effort: "medium",
      tools: functions(conversation),
      messages: [
        ...(conversation.system === undefined ? [] : [{ role: "system", content: conversation.system }]),
        ...conversation.steps.map((step) => {
          if ("user" in step) {
            const image = { type: "image_url", image_url: { url: `data:image/png;base64,${step.image}` } };
            const text = { type: "text", text: step.user };
            return { role: "user", content: step.image === undefined ? step.user : [text, image] };
          }
          if ("result" in step) return { role: "tool", tool_call_id: step.id, content: step.result };
          const calls = step.calls?.map(({ id, name, input }) => ({
            id,
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          }));
          return { role: "assistant", content: step.assistant, ...(calls ? { tool_calls: calls } : {}) };
        }),
      ],
    }),
  streamed: (text) => validateChatCompletionsStream(text).completion,
  whole: canonicalChat,
};

const messages: DialectClient = {
  name: "messages",
  send: (api, conversation, stream) =>
    api.post("/vendorb/v1/messages", {
      model: MODEL,
      stream,
      // This style shows thinking only on request.
      thinking: { type: "adaptive" },
      system: conversation.system,
      tools: conversation.tools?.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: schema,
      })),
      messages: conversation.steps.map((step) => {
        if ("user" in step) {
          const source = { type: "base64", media_type: "image/png", data: step.image };
          const blocks = [
            { type: "text", text: step.user },
            { type: "image", source },
          ];
          return { role: "user", content: step.image === undefined ? step.user : blocks };
        }
        if ("result" in step) {
          const block = { type: "tool_result", tool_use_id: step.id, content: step.result };
          return { role: "user", content: [block] };
        }
        const text = step.assistant === "" ? [] : [{ type: "text", text: step.assistant }];
        const calls = (step.calls ?? []).map((call) => ({ type: "tool_use", ...call }));
        return { role: "assistant", content: [...text, ...calls] };
      }),
    }),
  streamed: (text) => validateMessagesStream(text).completion,
  whole: canonicalMessage,
};

const content: DialectClient = {
  name: "content-generation",
  send: (api, conversation, stream) =>
    api.post(`/v1beta/models/${MODEL}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`, {
      // This style also shows thinking only on request.
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      ...(conversation.system === undefined
        ? {}
        : { systemInstruction: { parts: [{ text: conversation.system }] } }),
      ...(conversation.tools === undefined
        ? {}
        : {
            tools: [
              {
                functionDeclarations: conversation.tools.map(({ name, description, schema }) => ({
                  name,
                  description,
                  parametersJsonSchema: schema,
                })),
              },
            ],
          }),
      contents: conversation.steps.map((step) => {
        if ("user" in step) {
          const image = { inlineData: { mimeType: "image/png", data: step.image } };
          return { role: "user", parts: [{ text: step.user }, ...(step.image === undefined ? [] : [image])] };
        }
        if ("result" in step) {
          const { id, name, result } = step;
          return { role: "user", parts: [{ functionResponse: { id, name, response: { output: result } } }] };
        }
        const text = step.assistant === "" ? [] : [{ text: step.assistant }];
        const calls = (step.calls ?? []).map(({ id, name, input }) => ({
          functionCall: { id, name, args: input },
        }));
        return { role: "model", parts: [...text, ...calls] };
      }),
    }),
  streamed: (text) => validateContentGenerationStream(text).completion,
  whole: canonicalContent,
};

const runner: DialectClient = {
  name: "model-runner",
  send: (api, conversation, stream) =>
    api.post("/api/chat", {
      model: MODEL,
      stream,
      // Some backends think only on request.
      think: true,
      tools: functions(conversation),
      messages: [
        ...(conversation.system === undefined ? [] : [{ role: "system", content: conversation.system }]),
        ...conversation.steps.map((step) => {
          if ("user" in step) {
            const images = step.image === undefined ? {} : { images: [step.image] };
            return { role: "user", content: step.user, ...images };
          }
          if ("result" in step) {
            return { role: "tool", tool_call_id: step.id, tool_name: step.name, content: step.result };
          }
          const calls = step.calls?.map(({ id, name, input }) => ({
            id,
            function: { name, arguments: input },
          }));
          return { role: "assistant", content: step.assistant, ...(calls ? { tool_calls: calls } : {}) };
        }),
      ],
    }),
  streamed: (text) => validateModelRunnerStream(text).completion,
  whole: canonicalRunner,
};

function canonicalResponse(response: Record<string, unknown>, error: string | null): CanonicalCompletion {
  const { text, refusal, reasoning, toolCalls, finishReason, usage } = completionOf(response);
  return {
    text,
    ...(refusal === undefined ? {} : { refusal }),
    reasoning,
    toolCalls: toolCalls.map((call) => ({ name: call.name, arguments: argumentsOf(call.arguments) })),
    finish: error === null ? finishReason : null,
    usage: error === null ? { prompt: usage.prompt, completion: usage.completion } : null,
    error,
  };
}

const responses: DialectClient = {
  name: "responses",
  send: (api, conversation, stream) =>
    api.post("/v1/responses", {
      model: MODEL,
      stream,
      instructions: conversation.system,
      // This style shows reasoning only on request.
      reasoning: { summary: "auto" },
      tools: conversation.tools?.map(({ name, description, schema }) => ({
        type: "function",
        name,
        description,
        parameters: schema,
      })),
      input: conversation.steps.flatMap((step): object[] => {
        if ("user" in step) {
          const image = { type: "input_image", image_url: `data:image/png;base64,${step.image}` };
          const text = { type: "input_text", text: step.user };
          return [{ role: "user", content: step.image === undefined ? step.user : [text, image] }];
        }
        if ("result" in step) {
          return [{ type: "function_call_output", call_id: step.id, output: step.result }];
        }
        const text = step.assistant === "" ? [] : [{ role: "assistant", content: step.assistant }];
        const calls = (step.calls ?? []).map(({ id, name, input }) => ({
          type: "function_call",
          call_id: id,
          name,
          arguments: JSON.stringify(input),
        }));
        return [...text, ...calls];
      }),
    }),
  streamed: (text) => {
    const { response, error } = validateResponsesStream(text);
    return canonicalResponse(response, error?.message ?? null);
  },
  whole: (body) => canonicalResponse(Object.fromEntries(Object.entries(Object(body))), null),
};

/** The text-completions style, which can only express a single question. */
export const COMPLETIONS_CLIENT: DialectClient = {
  name: "completions",
  send: (api, conversation, stream) => {
    if (!isPrompt(conversation)) throw new Error("a text completion has one prompt and nothing else");
    const [{ user: prompt }] = conversation.steps;
    const options = stream ? { stream, stream_options: { include_usage: true } } : {};
    return api.post("/v1/completions", { model: MODEL, prompt, ...options });
  },
  streamed: (text) => validateCompletionsStream(text).completion,
  whole: canonicalTextCompletion,
};

/** Whether a conversation is a single question: no system prompt, no tools, no history. */
export function isPrompt(
  conversation: DialectConversation,
): conversation is { readonly steps: readonly [{ readonly user: string }] } {
  const [step, ...others] = conversation.steps;
  const alone = others.length === 0 && conversation.system === undefined && conversation.tools === undefined;
  return alone && step !== undefined && "user" in step && step.image === undefined;
}

/** All dialects that can express any conversation. Tests compare the others with chat completions. */
export const DIALECT_CLIENTS: readonly DialectClient[] = [chat, messages, content, responses, runner];
