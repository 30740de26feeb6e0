import { eventBlocks, type Protocol } from "./fault-body.ts";
import type { Reply } from "./scripted-upstream.ts";

/** A model's answer, independent of a protocol. */
export interface ModelAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  /** An earlier text: a message of its own (responses), or before a server tool (messages). Only in these protocols. */
  readonly earlier?: string;
  /** Text of a refusal, in protocols that separate it: chat completions and responses. */
  readonly refusal?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
  /** The model writes one member of JSON a line, with this before each of them. Absent: all in one line. */
  readonly indent?: string;
  /** A last call whose arguments are cut off. */
  readonly half?: { readonly name: string; readonly parameter: string; readonly begun: string };
  /** Why it ended; `broken`: the connection broke. */
  readonly end: "stop" | "length" | "filter" | "broken";
}

/** How a driver's backend writes tool calls. */
export type ToolCalls = "native" | "markup";

/** An upstream's stream with this answer, with 40 prompt tokens, 9 completion tokens and 3 reasoning tokens. */
export function streamModelAnswer(modelAnswer: ModelAnswer, protocol: Protocol, toolCalls: ToolCalls): Reply {
  const events = EVENTS[protocol](toolCalls === "markup" ? inMarkup(modelAnswer) : modelAnswer);
  const broken = modelAnswer.end === "broken";
  // The events after the text distinguish a complete answer from a broken one, so omit them.
  const kept = broken ? events.slice(0, -TRAILING[protocol]) : events;
  const blocks = eventBlocks(protocol, { events: kept, ...(broken && { done: "missing" }) });
  return { body: broken ? [...blocks, "reset"] : blocks };
}

/** Number of events after the last text. */
const TRAILING: Readonly<Record<Protocol, number>> = {
  sessions: 2,
  "chat-completions": 2,
  responses: 1,
  messages: 2,
  "content-generation": 1,
};

/** Writes calls into the text, as a model without native calls does. */
function inMarkup({ calls = [], half, indent, ...modelAnswer }: ModelAnswer): ModelAnswer {
  if (calls.length === 0 && half === undefined) return modelAnswer;
  const parameter = (name: string, value: string) =>
    `<|TCML|parameter name="${name}"><![CDATA[${value}]]></|TCML|parameter>`;
  const written = (value: unknown) =>
    typeof value === "string" ? value : JSON.stringify(value, null, indent);
  const whole = calls.map(({ name, input }) => {
    const parameters = Object.entries(input).map(([key, value]) => parameter(key, written(value)));
    return `<|TCML|invoke name="${name}">${parameters.join("")}</|TCML|invoke>`;
  });
  const begun =
    half === undefined
      ? ""
      : `<|TCML|invoke name="${half.name}"><|TCML|parameter name="${half.parameter}"><![CDATA[${half.begun}`;
  const end = half === undefined && modelAnswer.end === "stop" ? "</|TCML|tool_calls>" : "";
  return {
    ...modelAnswer,
    text: `${modelAnswer.text ?? ""}<|TCML|tool_calls>${whole.join("")}${begun}${end}`,
  };
}

/** Splits a text into three pieces, not at word ends. */
function pieces(text: string | undefined): string[] {
  if (text === undefined) return [];
  const size = Math.max(1, Math.ceil(text.length / 3));
  return text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
}

/** The calls with the text of their arguments; the cut-off call is last. */
function texts({ calls = [], half, indent }: ModelAnswer): { name: string; text: string }[] {
  const whole = calls.map(({ name, input }) => ({ name, text: JSON.stringify(input, null, indent) }));
  if (half === undefined) return whole;
  const begun = JSON.stringify({ [half.parameter]: half.begun }).slice(0, -2);
  return [...whole, { name: half.name, text: begun }];
}

function sessionsEvents({ reasoning, text, end }: ModelAnswer): unknown[] {
  const reasons: Record<ModelAnswer["end"], string> = {
    stop: "stop",
    length: "length",
    filter: "content_filter",
    broken: "stop",
  };
  return [
    ["start", { message_id: "message-1" }],
    ...pieces(reasoning).map((piece) => ["reasoning", { text: piece }]),
    ...pieces(text).map((piece) => ["text", { text: piece }]),
    ["usage", { prompt_tokens: 40, completion_tokens: 9, reasoning_tokens: 3 }],
    ["finish", { reason: reasons[end] }],
  ];
}

function chunks(modelAnswer: ModelAnswer): unknown[] {
  const { reasoning, text, refusal, end } = modelAnswer;
  const made = texts(modelAnswer);
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_800_000_000,
    model: "upstream-model",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (index: number, fields: object) => chunk({ tool_calls: [{ index, ...fields }] });
  const reasons: Record<ModelAnswer["end"], string> = {
    stop: made.length > 0 ? "tool_calls" : "stop",
    length: "length",
    filter: "content_filter",
    broken: "stop",
  };
  return [
    chunk({ role: "assistant", content: null }),
    ...pieces(reasoning).map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(text).map((piece) => chunk({ content: piece })),
    ...pieces(refusal).map((piece) => chunk({ refusal: piece })),
    ...made.flatMap(({ name, text: input }, index) => [
      call(index, { id: `call_${index}`, type: "function", function: { name, arguments: "" } }),
      ...pieces(input).map((piece) => call(index, { function: { arguments: piece } })),
    ]),
    chunk({}, reasons[end]),
    {
      ...chunk({}),
      choices: [],
      usage: {
        prompt_tokens: 40,
        completion_tokens: 9,
        total_tokens: 49,
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    },
  ];
}

function responseEvents(modelAnswer: ModelAnswer): unknown[] {
  const { reasoning, earlier, text, refusal, end } = modelAnswer;
  const made = texts(modelAnswer);
  const output: object[] = [];
  const item = (added: object, deltas: readonly object[], done: object): unknown[] => {
    const output_index = output.push(done) - 1;
    return [
      { type: "response.output_item.added", output_index, item: added },
      ...deltas.map((delta) => ({ output_index, ...delta })),
      { type: "response.output_item.done", output_index, item: done },
    ];
  };
  const thought = { type: "reasoning", id: "rs_1", summary: [] };
  const message = { type: "message", id: "msg_1", role: "assistant", content: [] };
  const items = [
    ...(reasoning === undefined
      ? []
      : item(
          thought,
          pieces(reasoning).map((delta) => ({
            type: "response.reasoning_summary_text.delta",
            summary_index: 0,
            delta,
          })),
          { ...thought, summary: [{ type: "summary_text", text: reasoning }] },
        )),
    ...[earlier, text].flatMap((said) =>
      said === undefined
        ? []
        : item(
            message,
            pieces(said).map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta })),
            { ...message, content: [{ type: "output_text", text: said, annotations: [] }] },
          ),
    ),
    ...(refusal === undefined
      ? []
      : item(
          message,
          pieces(refusal).map((delta) => ({ type: "response.refusal.delta", content_index: 0, delta })),
          { ...message, content: [{ type: "refusal", refusal }] },
        )),
    ...made.flatMap(({ name, text: input }, index) => {
      const call = {
        type: "function_call",
        id: `fc_${index}`,
        call_id: `call_${index}`,
        name,
        arguments: "",
      };
      return item(
        call,
        pieces(input).map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
        { ...call, arguments: input },
      );
    }),
  ];
  const ends: Record<ModelAnswer["end"], object> = {
    stop: { status: "completed" },
    length: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    filter: { status: "incomplete", incomplete_details: { reason: "content_filter" } },
    broken: { status: "completed" },
  };
  const response = { id: "resp_1", object: "response", model: "upstream-model" };
  const usage = { input_tokens: 40, output_tokens: 9, output_tokens_details: { reasoning_tokens: 3 } };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...items,
    {
      type: end === "length" || end === "filter" ? "response.incomplete" : "response.completed",
      response: { ...response, ...ends[end], output, usage },
    },
  ];
}

function messageEvents(modelAnswer: ModelAnswer): unknown[] {
  const { reasoning, earlier, text, end } = modelAnswer;
  const made = texts(modelAnswer);
  let next = 0;
  const block = (content: object, deltas: readonly object[]): unknown[] => {
    const index = next++;
    return [
      { type: "content_block_start", index, content_block: content },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  };
  const textBlock = (said: string) =>
    block(
      { type: "text", text: "" },
      pieces(said).map((piece) => ({ type: "text_delta", text: piece })),
    );
  const serverTool = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const result = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
  const reasons: Record<ModelAnswer["end"], string> = {
    stop: made.length > 0 ? "tool_use" : "end_turn",
    length: "max_tokens",
    filter: "refusal",
    broken: "end_turn",
  };
  const message = { id: "msg_1", type: "message", role: "assistant", content: [] };
  return [
    { type: "message_start", message: { ...message, usage: { input_tokens: 40, output_tokens: 1 } } },
    ...(reasoning === undefined
      ? []
      : block(
          { type: "thinking", thinking: "" },
          pieces(reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
        )),
    ...(earlier === undefined ? [] : [...textBlock(earlier), ...block(serverTool, []), ...block(result, [])]),
    ...(text === undefined ? [] : textBlock(text)),
    ...made.flatMap(({ name, text: input }, index) =>
      block(
        { type: "tool_use", id: `toolu_${index}`, name, input: {} },
        pieces(input).map((partial_json) => ({ type: "input_json_delta", partial_json })),
      ),
    ),
    {
      type: "message_delta",
      delta: { stop_reason: reasons[end], stop_sequence: null },
      usage: { output_tokens: 9, output_tokens_details: { thinking_tokens: 3 } },
    },
    { type: "message_stop" },
  ];
}

/**
 * This protocol sends calls as a whole: a call that was cut off is missing, and if nothing else ends the answer, the cut
 * does.
 */
function contentChunks({ reasoning, text, calls = [], half, end }: ModelAnswer): unknown[] {
  const chunk = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    modelVersion: "upstream-model",
    responseId: "answer-1",
  });
  const reasons: Record<ModelAnswer["end"], string> = {
    stop: half === undefined ? "STOP" : "MALFORMED_FUNCTION_CALL",
    length: "MAX_TOKENS",
    filter: "SAFETY",
    broken: "STOP",
  };
  const usageMetadata = { promptTokenCount: 40, candidatesTokenCount: 6, thoughtsTokenCount: 3 };
  return [
    ...pieces(reasoning).map((piece) => chunk([{ text: piece, thought: true }])),
    ...pieces(text).map((piece) => chunk([{ text: piece }])),
    ...calls.map(({ name, input }) => chunk([{ functionCall: { name, args: input } }])),
    { ...chunk([{ text: "" }], { finishReason: reasons[end] }), usageMetadata },
  ];
}

const EVENTS: Readonly<Record<Protocol, (modelAnswer: ModelAnswer) => unknown[]>> = {
  sessions: sessionsEvents,
  "chat-completions": chunks,
  responses: responseEvents,
  messages: messageEvents,
  "content-generation": contentChunks,
};
