import { listAt, textAt, valueAt } from "../playground/json.ts";
import { javascriptLiteral, KEY_VARIABLE, pythonArguments } from "../playground/literals.ts";
import { withParameters } from "../playground/parameters.ts";
import { parseArguments, readError, readUsage, withoutEmptyPieces } from "../playground/pieces.ts";
import type {
  AnswerPiece,
  Attachment,
  PlaygroundDialect,
  PlaygroundRequest,
  PlaygroundTurn,
} from "../playground/types.ts";

function toContent(text: string, attachments: readonly Attachment[] = []): unknown {
  if (attachments.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...attachments.map(({ kind, mediaType, data, url }) => ({
      type: kind === "image" ? "image" : "document",
      source: data === "" ? { type: "url", url } : { type: "base64", media_type: mediaType, data },
    })),
  ];
}

const parameters = {
  temperature: "temperature",
  max_tokens: "max_tokens",
  top_p: "top_p",
  top_k: "top_k",
  stop: "stop_sequences",
  reasoning_effort: "output_config.effort",
  user: "metadata.user_id",
} as const;

function toMessage(turn: PlaygroundTurn): Record<string, unknown> {
  switch (turn.role) {
    case "user":
      return { role: "user", content: toContent(turn.text, turn.attachments) };
    case "tool":
      return {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: turn.call.id, content: turn.output }],
      };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(turn.text === "" ? [] : [{ type: "text", text: turn.text }]),
          ...turn.calls.map((call) => ({
            type: "tool_use",
            id: call.id,
            name: call.name,
            input: parseArguments(call),
          })),
        ],
      };
  }
}

function buildBody(input: PlaygroundRequest): Record<string, unknown> {
  const { model, system, turns, tools, stream } = input;
  const body = {
    model,
    max_tokens: 8192,
    thinking: { type: "adaptive" },
    ...(system !== "" && { system }),
    messages: turns.map(toMessage),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters,
      })),
    }),
    ...(stream && { stream: true }),
  };
  return withParameters(body, parameters, input);
}

const usage = (data: unknown): AnswerPiece[] =>
  readUsage(valueAt(data, "usage"), "input_tokens", "output_tokens");

function readEvent(data: unknown): readonly AnswerPiece[] {
  switch (textAt(data, "type")) {
    case "content_block_start":
      if (textAt(data, "content_block", "type") !== "tool_use") return [];
      return [
        {
          type: "call",
          id: textAt(data, "content_block", "id"),
          name: textAt(data, "content_block", "name"),
        },
      ];
    case "content_block_delta":
      return withoutEmptyPieces(
        { type: "text", text: textAt(data, "delta", "text") },
        { type: "reasoning", text: textAt(data, "delta", "thinking") },
        { type: "arguments", text: textAt(data, "delta", "partial_json") },
      );
    case "message_delta":
      return usage(data);
    default:
      return withoutEmptyPieces(readError(data));
  }
}

function readBlock(source: unknown): AnswerPiece[] {
  switch (textAt(source, "type")) {
    case "thinking":
      return [{ type: "reasoning", text: textAt(source, "thinking") }];
    case "text":
      return [{ type: "text", text: textAt(source, "text") }];
    case "tool_use":
      return [
        { type: "call", id: textAt(source, "id"), name: textAt(source, "name") },
        { type: "arguments", text: JSON.stringify(valueAt(source, "input")) },
      ];
    default:
      return [];
  }
}

/** The message style. */
export const playground: PlaygroundDialect = {
  id: "messages",
  parameters,
  canAttach: ({ kind, mediaType, data }) =>
    kind === "image" || data === "" || mediaType === "application/pdf",
  buildRequest: (input) => ({ path: "/anthropic/v1/messages", body: buildBody(input) }),
  parseEvent: readEvent,
  parseAnswer: (data) =>
    withoutEmptyPieces(...listAt(data, "content").flatMap(readBlock), ...usage(data), readError(data)),
  toJavascript: (origin, request, { stream }) => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: "${origin}/anthropic",
  apiKey: process.env.${KEY_VARIABLE},
});
const message = await client.messages.create(${javascriptLiteral(request.body)});
${stream ? `for await (const event of message) {\n  if (event.type === "content_block_delta" && event.delta.type === "text_delta") {\n    process.stdout.write(event.delta.text);\n  }\n}` : "console.log(message.content);"}
`,
  toPython: (origin, request, { stream }) => `import os
from anthropic import Anthropic

client = Anthropic(base_url="${origin}/anthropic", api_key=os.environ["${KEY_VARIABLE}"])
message = client.messages.create(
${pythonArguments(request.body)})
${stream ? `for event in message:\n    if event.type == "content_block_delta" and event.delta.type == "text_delta":\n        print(event.delta.text, end="")` : "print(message.content)"}
`,
};
