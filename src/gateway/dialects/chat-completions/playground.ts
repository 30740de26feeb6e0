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

function toContent(text: string, attachments: readonly Attachment[] = []): unknown {
  if (attachments.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...attachments.map((attachment) =>
      attachment.kind === "image"
        ? { type: "image_url", image_url: { url: toUrl(attachment) } }
        : { type: "file", file: { filename: attachment.name, file_data: toUrl(attachment) } },
    ),
  ];
}

const parameters = {
  temperature: "temperature",
  max_tokens: "max_tokens",
  top_p: "top_p",
  top_k: "top_k",
  min_p: "min_p",
  stop: "stop",
  seed: "seed",
  presence_penalty: "presence_penalty",
  frequency_penalty: "frequency_penalty",
  reasoning_effort: "reasoning_effort",
  user: "user",
} as const;

function toMessage(turn: PlaygroundTurn): Record<string, unknown> {
  switch (turn.role) {
    case "user":
      return { role: "user", content: toContent(turn.text, turn.attachments) };
    case "tool":
      return { role: "tool", tool_call_id: turn.call.id, content: turn.output };
    case "assistant":
      return {
        role: "assistant",
        content: turn.text || null,
        ...(turn.calls.length > 0 && {
          tool_calls: turn.calls.map(({ id, name, arguments: text }) => ({
            id,
            type: "function",
            function: { name, arguments: text },
          })),
        }),
      };
  }
}

function buildBody(input: PlaygroundRequest): Record<string, unknown> {
  const { model, system, turns, tools, stream } = input;
  const body = {
    model,
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...turns.map(toMessage)],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
    ...(stream && { stream: true }),
  };
  return withParameters(body, parameters, input);
}

const usage = (data: unknown): AnswerPiece[] =>
  readUsage(valueAt(data, "usage"), "prompt_tokens", "completion_tokens");

/** Converts a message or a delta to pieces. Both have the same fields. */
function readPieces(source: unknown): AnswerPiece[] {
  const calls = listAt(source, "tool_calls").flatMap((call): AnswerPiece[] => {
    const name = textAt(call, "function", "name");
    const startPieces: AnswerPiece[] = name === "" ? [] : [{ type: "call", id: textAt(call, "id"), name }];
    return [...startPieces, { type: "arguments", text: textAt(call, "function", "arguments") }];
  });
  return [
    { type: "reasoning", text: textAt(source, "reasoning_content") },
    { type: "text", text: textAt(source, "content") },
    ...calls,
  ];
}

/** The chat-completions style. */
export const playground: PlaygroundDialect = {
  id: "chat-completions",
  parameters,
  canAttach: ({ kind, data }) => kind === "image" || data !== "",
  buildRequest: (input) => ({ path: "/v1/chat/completions", body: buildBody(input) }),
  parseEvent: (data) =>
    withoutEmptyPieces(...readPieces(valueAt(data, "choices", 0, "delta")), ...usage(data), readError(data)),
  parseAnswer: (data) =>
    withoutEmptyPieces(
      ...readPieces(valueAt(data, "choices", 0, "message")),
      ...usage(data),
      readError(data),
    ),
  toJavascript: (origin, request, { stream }) => `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${origin}/v1",
  apiKey: process.env.${KEY_VARIABLE},
});
const answer = await client.chat.completions.create(${javascriptLiteral(request.body)});
${stream ? `for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta.content ?? "");` : "console.log(answer.choices[0].message);"}
`,
  toPython: (origin, request, { stream }) => `import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["${KEY_VARIABLE}"])
answer = client.chat.completions.create(
${pythonArguments(request.body)})
${stream ? `for chunk in answer:\n    print(chunk.choices[0].delta.content or "", end="")` : "print(answer.choices[0].message)"}
`,
};
