import { toUrl } from "../playground/attachments.ts";
import { listAt, textAt, valueAt } from "../playground/json.ts";
import { javascriptLiteral, KEY_VARIABLE, pythonArguments } from "../playground/literals.ts";
import { withParameters } from "../playground/parameters.ts";
import { readError, readUsage, withoutEmptyPieces } from "../playground/pieces.ts";
import type {
  AnswerPiece,
  Attachment,
  PlaygroundDialect,
  PlaygroundRequest,
  PlaygroundTurn,
} from "../playground/types.ts";

function toFile({ name, mediaType, data, url }: Attachment): Record<string, unknown> {
  if (data === "") return { type: "input_file", file_url: url };
  return { type: "input_file", filename: name, file_data: `data:${mediaType};base64,${data}` };
}

function toContent(text: string, attachments: readonly Attachment[] = []): unknown {
  if (attachments.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "input_text", text }]),
    ...attachments.map((attachment) =>
      attachment.kind === "image"
        ? { type: "input_image", image_url: toUrl(attachment) }
        : toFile(attachment),
    ),
  ];
}

const parameters = {
  temperature: "temperature",
  max_tokens: "max_output_tokens",
  top_p: "top_p",
  reasoning_effort: "reasoning.effort",
  user: "user",
} as const;

function toItems(turn: PlaygroundTurn): Record<string, unknown>[] {
  switch (turn.role) {
    case "user":
      return [{ role: "user", content: toContent(turn.text, turn.attachments) }];
    case "tool":
      return [{ type: "function_call_output", call_id: turn.call.id, output: turn.output }];
    case "assistant":
      return [
        ...(turn.text === "" ? [] : [{ role: "assistant", content: turn.text }]),
        ...turn.calls.map(({ id, name, arguments: text }) => ({
          type: "function_call",
          call_id: id,
          name,
          arguments: text,
        })),
      ];
  }
}

function buildBody(input: PlaygroundRequest): Record<string, unknown> {
  const { model, system, turns, tools, stream } = input;
  const body = {
    model,
    ...(system !== "" && { instructions: system }),
    input: turns.flatMap(toItems),
    reasoning: { summary: "auto" },
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", ...tool })) }),
    ...(stream && { stream: true }),
  };
  return withParameters(body, parameters, input);
}

const toEndPieces = (response: unknown): AnswerPiece[] => [
  ...readUsage(valueAt(response, "usage"), "input_tokens", "output_tokens"),
  readError(response),
];

function readEvent(data: unknown): readonly AnswerPiece[] {
  const delta = textAt(data, "delta");
  switch (textAt(data, "type")) {
    case "response.output_text.delta":
      return withoutEmptyPieces({ type: "text", text: delta });
    case "response.reasoning_summary_text.delta":
      return withoutEmptyPieces({ type: "reasoning", text: delta });
    case "response.function_call_arguments.delta":
      return withoutEmptyPieces({ type: "arguments", text: delta });
    case "response.output_item.added":
      if (textAt(data, "item", "type") !== "function_call") return [];
      return [{ type: "call", id: textAt(data, "item", "call_id"), name: textAt(data, "item", "name") }];
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
      return withoutEmptyPieces(...toEndPieces(valueAt(data, "response")));
    default:
      return withoutEmptyPieces({
        type: "error",
        message: textAt(data, "error", "message") || textAt(data, "message"),
      });
  }
}

function readItem(source: unknown): AnswerPiece[] {
  switch (textAt(source, "type")) {
    case "reasoning":
      return listAt(source, "summary").map((part) => ({ type: "reasoning", text: textAt(part, "text") }));
    case "message":
      return listAt(source, "content").map((part) => ({ type: "text", text: textAt(part, "text") }));
    case "function_call":
      return [
        { type: "call", id: textAt(source, "call_id"), name: textAt(source, "name") },
        { type: "arguments", text: textAt(source, "arguments") },
      ];
    default:
      return [];
  }
}

/** The responses style. */
export const playground: PlaygroundDialect = {
  id: "responses",
  parameters,
  canAttach: () => true,
  buildRequest: (input) => ({ path: "/v1/responses", body: buildBody(input) }),
  parseEvent: readEvent,
  parseAnswer: (data) =>
    withoutEmptyPieces(...listAt(data, "output").flatMap(readItem), ...toEndPieces(data)),
  toJavascript: (origin, request, { stream }) => `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${origin}/v1",
  apiKey: process.env.${KEY_VARIABLE},
});
const response = await client.responses.create(${javascriptLiteral(request.body)});
${stream ? `for await (const event of response) {\n  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);\n}` : "console.log(response.output_text);"}
`,
  toPython: (origin, request, { stream }) => `import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["${KEY_VARIABLE}"])
response = client.responses.create(
${pythonArguments(request.body)})
${stream ? `for event in response:\n    if event.type == "response.output_text.delta":\n        print(event.delta, end="")` : "print(response.output_text)"}
`,
};
