import { listAt, textAt, valueAt } from "../playground/json.ts";
import { javascriptLiteral, KEY_VARIABLE, pythonArguments } from "../playground/literals.ts";
import { withParameters } from "../playground/parameters.ts";
import { parseArguments, readUsage, withoutEmptyPieces } from "../playground/pieces.ts";
import type {
  AnswerPiece,
  PlaygroundDialect,
  PlaygroundRequest,
  PlaygroundTurn,
} from "../playground/types.ts";

const parameters = {
  temperature: "options.temperature",
  max_tokens: "options.num_predict",
  top_p: "options.top_p",
  top_k: "options.top_k",
  min_p: "options.min_p",
  stop: "options.stop",
  seed: "options.seed",
  presence_penalty: "options.presence_penalty",
  frequency_penalty: "options.frequency_penalty",
} as const;

function toMessage(turn: PlaygroundTurn): Record<string, unknown> {
  switch (turn.role) {
    case "user":
      return {
        role: "user",
        content: turn.text,
        ...(turn.attachments !== undefined &&
          turn.attachments.length > 0 && { images: turn.attachments.map(({ data }) => data) }),
      };
    case "tool":
      return {
        role: "tool",
        tool_call_id: turn.call.id,
        tool_name: turn.call.name,
        content: turn.output,
      };
    case "assistant":
      return {
        role: "assistant",
        content: turn.text,
        ...(turn.calls.length > 0 && {
          tool_calls: turn.calls.map((call) => ({
            id: call.id,
            function: { name: call.name, arguments: parseArguments(call) },
          })),
        }),
      };
  }
}

/** This style streams by default, but its SDKs do not, so the body always contains `stream`. */
function buildBody(input: PlaygroundRequest): Record<string, unknown> {
  const { model, system, turns, tools, stream } = input;
  const body = {
    model,
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...turns.map(toMessage)],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
    stream,
  };
  return withParameters(body, parameters, input);
}

/** Converts a line of a stream or a whole answer to pieces. Both have the same shape, and tool calls are never split. */
function readLine(data: unknown): readonly AnswerPiece[] {
  const calls = listAt(data, "message", "tool_calls").flatMap((call): AnswerPiece[] => [
    { type: "call", id: textAt(call, "id"), name: textAt(call, "function", "name") },
    { type: "arguments", text: JSON.stringify(valueAt(call, "function", "arguments") ?? {}) },
  ]);
  return withoutEmptyPieces(
    { type: "reasoning", text: textAt(data, "message", "thinking") },
    { type: "text", text: textAt(data, "message", "content") },
    ...calls,
    ...readUsage(data, "prompt_eval_count", "eval_count"),
    { type: "error", message: textAt(data, "error") },
  );
}

/** The local-runner style. */
export const playground: PlaygroundDialect = {
  id: "model-runner",
  parameters,
  canAttach: ({ kind, data }) => kind === "image" && data !== "",
  buildRequest: (input) => ({ path: "/api/chat", body: buildBody(input) }),
  parseEvent: readLine,
  parseAnswer: readLine,
  toJavascript: (origin, request, { stream }) => `import { Ollama } from "ollama";

const client = new Ollama({
  host: "${origin}",
  headers: { Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\` },
});
const answer = await client.chat(${javascriptLiteral(request.body)});
${stream ? `for await (const part of answer) process.stdout.write(part.message.content);` : "console.log(answer.message);"}
`,
  toPython: (origin, request, { stream }) => `import os
from ollama import Client

client = Client(host="${origin}", headers={"Authorization": "Bearer " + os.environ["${KEY_VARIABLE}"]})
answer = client.chat(
${pythonArguments(request.body)})
${stream ? `for part in answer:\n    print(part.message.content or "", end="")` : "print(answer.message)"}
`,
};
