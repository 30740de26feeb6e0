import { isObject } from "../../../core/encoding/json.ts";
import { listAt, numberAt, textAt, valueAt } from "../playground/json.ts";
import { javascriptLiteral, KEY_VARIABLE, pythonLiteral } from "../playground/literals.ts";
import { withParameters } from "../playground/parameters.ts";
import { parseArguments, readError, withoutEmptyPieces } from "../playground/pieces.ts";
import type {
  AnswerPiece,
  Attachment,
  PlaygroundDialect,
  PlaygroundRequest,
  PlaygroundTurn,
  WireRequest,
} from "../playground/types.ts";

function toParts(text: string, attachments: readonly Attachment[] = []): Record<string, unknown>[] {
  return [
    ...(text === "" && attachments.length > 0 ? [] : [{ text }]),
    ...attachments.map(({ mediaType: mimeType, data, url }) =>
      data === "" ? { fileData: { mimeType, fileUri: url } } : { inlineData: { mimeType, data } },
    ),
  ];
}

const parameters = {
  temperature: "generationConfig.temperature",
  max_tokens: "generationConfig.maxOutputTokens",
  top_p: "generationConfig.topP",
  top_k: "generationConfig.topK",
  stop: "generationConfig.stopSequences",
  seed: "generationConfig.seed",
  presence_penalty: "generationConfig.presencePenalty",
  frequency_penalty: "generationConfig.frequencyPenalty",
} as const;

function toContent(turn: PlaygroundTurn): Record<string, unknown> {
  switch (turn.role) {
    case "user":
      return { role: "user", parts: toParts(turn.text, turn.attachments) };
    case "tool": {
      const { id, name } = turn.call;
      const response = { output: turn.output };
      return { role: "user", parts: [{ functionResponse: { id, name, response } }] };
    }
    case "assistant":
      return {
        role: "model",
        parts: [
          ...(turn.text === "" ? [] : [{ text: turn.text }]),
          ...turn.calls.map((call) => ({
            functionCall: { id: call.id, name: call.name, args: parseArguments(call) },
          })),
        ],
      };
  }
}

function buildRequest(input: PlaygroundRequest): WireRequest {
  const { model, system, turns, tools, stream } = input;
  const action = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return {
    path: `/v1beta/models/${encodeURIComponent(model)}:${action}`,
    body: withParameters(
      {
        ...(system !== "" && { systemInstruction: { parts: [{ text: system }] } }),
        contents: turns.map(toContent),
        generationConfig: { thinkingConfig: { includeThoughts: true } },
        ...(tools.length > 0 && {
          tools: [
            {
              functionDeclarations: tools.map(({ name, description, parameters }) => ({
                name,
                description,
                parametersJsonSchema: parameters,
              })),
            },
          ],
        }),
      },
      parameters,
      input,
    ),
  };
}

function readPart(source: unknown): AnswerPiece[] {
  const text = textAt(source, "text");
  if (valueAt(source, "thought") === true) return [{ type: "reasoning", text }];
  const call = valueAt(source, "functionCall");
  if (call === undefined) return [{ type: "text", text }];
  return [
    { type: "call", id: textAt(call, "id"), name: textAt(call, "name") },
    { type: "arguments", text: JSON.stringify(valueAt(call, "args") ?? {}) },
  ];
}

/** Converts a chunk or a whole answer to pieces. Both have the same shape. */
function readChunk(data: unknown): readonly AnswerPiece[] {
  const usagePieces: AnswerPiece[] =
    valueAt(data, "usageMetadata") === undefined
      ? []
      : [
          {
            type: "usage",
            input: numberAt(data, "usageMetadata", "promptTokenCount"),
            output:
              numberAt(data, "usageMetadata", "candidatesTokenCount") +
              numberAt(data, "usageMetadata", "thoughtsTokenCount"),
          },
        ];
  const parts = listAt(data, "candidates", 0, "content", "parts");
  return withoutEmptyPieces(...parts.flatMap(readPart), ...usagePieces, readError(data));
}

/**
 * Converts the request body to SDK arguments: every field except `contents` moves to `config`, and `generationConfig` is
 * unwrapped.
 */
function sdkArguments(wire: WireRequest, model: string) {
  const { contents, generationConfig, ...config } = wire.body;
  return { model, contents, config: { ...config, ...(isObject(generationConfig) && generationConfig) } };
}

/** The content-generation style. */
export const playground: PlaygroundDialect = {
  id: "content-generation",
  parameters,
  canAttach: () => true,
  buildRequest,
  parseEvent: readChunk,
  parseAnswer: readChunk,
  toJavascript: (origin, wire, { model, stream }) => `import { GoogleGenAI } from "@google/genai";

const ai = new GoogleGenAI({
  apiKey: process.env.${KEY_VARIABLE},
  httpOptions: { baseUrl: "${origin}" },
});
const answer = await ai.models.${stream ? "generateContentStream" : "generateContent"}(${javascriptLiteral(sdkArguments(wire, model))});
${stream ? `for await (const chunk of answer) process.stdout.write(chunk.text ?? "");` : "console.log(answer.text);"}
`,
  toPython: (origin, wire, { model, stream }) => `import os
from google import genai

client = genai.Client(
    api_key=os.environ["${KEY_VARIABLE}"],
    http_options={"base_url": "${origin}"},
)
answer = client.models.${stream ? "generate_content_stream" : "generate_content"}(
    **${pythonLiteral(sdkArguments(wire, model), 4)}
)
${stream ? `for chunk in answer:\n    print(chunk.text or "", end="")` : "print(answer.text)"}
`,
};
