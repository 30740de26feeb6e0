/** The upstream protocol of an answer. */
export type Protocol = "sessions" | "chat-completions" | "responses" | "messages" | "content-generation";

/** Script for the answer of one generation. An empty plan is a healthy answer with a few events. */
export interface Plan {
  /** Default: "Hello from upstream." */
  readonly text?: string;
  /** Default: none. */
  readonly reasoning?: string;
  /** Number of pieces of the text; default: one per word. */
  readonly chunks?: number;
  /** Default: `stop`. */
  readonly finish?: string;
  /** Default: true. */
  readonly usage?: boolean;
  /** Replaces all events that the fields above create. For `sessions`, each is a name with its data. */
  readonly events?: readonly unknown[];

  /** HTTP error status instead of a stream; `code` is its error code. */
  readonly status?: number;
  readonly code?: string;
  /** Response headers in addition to the content type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A raw body instead of all fields above, with `contentType`. */
  readonly body?: string | Uint8Array;
  readonly contentType?: string;

  /** Accepts the request and never answers. */
  readonly hang?: boolean;
  /** Sends `100 Continue` repeatedly and never an answer. */
  readonly interimForever?: boolean;
  /** Delay before the headers in milliseconds. */
  readonly headersAfter?: number;
  /** Delay between two events in milliseconds. */
  readonly eventEvery?: number;
  /** Waits before the event with this index. */
  readonly hold?: { readonly at: number; readonly until: Promise<unknown> };
  /** Stops after this many events, with the connection open. */
  readonly stallAfter?: number;
  /** Ends the response gracefully after this many bytes of its body. */
  readonly cutAt?: number;
  /** Resets the connection after this many bytes of the body. */
  readonly resetAt?: number;
  /** Bytes per write, which splits events and characters; default: one event per write. */
  readonly writeSize?: number;

  /** Index of an event. A line of invalid JSON is sent before it. */
  readonly garbageAt?: number;
  /** Index of an event. An error event with `code` replaces it and ends the stream. */
  readonly errorAt?: number;
  /** `data: [DONE]` at the end of a chat-completions stream; default: `once`. */
  readonly done?: "once" | "twice" | "missing";
  readonly crlf?: boolean;
  /** Sends a comment before every event. */
  readonly comments?: boolean;
  /** Makes the text this many bytes long, in one event. */
  readonly longLine?: number;
}

/** The SSE events of a plan, each a complete block with its blank line. */
export function eventBlocks(protocol: Protocol, plan: Plan): string[] {
  const made = plan.events ?? EVENTS[protocol](plan);
  const blocks = made.map((event) => block(protocol, event));
  if (plan.garbageAt !== undefined) blocks.splice(plan.garbageAt, 0, 'data: {"torn": \n\n');
  if (plan.errorAt !== undefined) {
    const error = errorBody(protocol, plan.code ?? "model_unavailable", "The upstream was told to fail.");
    blocks.splice(plan.errorAt);
    blocks.push(block(protocol, protocol === "sessions" ? ["error", error.error] : error));
  } else if (protocol === "chat-completions" && plan.done !== "missing") {
    blocks.push(...Array.from({ length: plan.done === "twice" ? 2 : 1 }, () => "data: [DONE]\n\n"));
  }
  return blocks.map((text) => {
    const commented = plan.comments ? `: keep-alive\n\n${text}` : text;
    return plan.crlf ? commented.replaceAll("\n", "\r\n") : commented;
  });
}

/** Status names of the content-generation style, which other styles express as codes. */
const STATUSES: Readonly<Record<string, string>> = {
  model_unavailable: "UNAVAILABLE",
  rate_limited: "RESOURCE_EXHAUSTED",
};

/** The JSON body of an error. */
export function errorBody(protocol: Protocol, code: string, message: string) {
  switch (protocol) {
    case "sessions":
      return { error: { code, message } };
    case "chat-completions":
      return { error: { code, message, type: "upstream_error", param: null } };
    case "responses":
      return { type: "error", error: { code, message, type: "upstream_error", param: null } };
    case "messages":
      return { type: "error", error: { type: code, message } };
    case "content-generation":
      return { error: { code: 503, message, status: STATUSES[code] ?? code } };
  }
}

/** The bytes of a complete stream, for tests that split it themselves. */
export function bodyBytes(protocol: Protocol, plan: Plan): Uint8Array {
  return new TextEncoder().encode(eventBlocks(protocol, plan).join(""));
}

function sessionEvents(plan: Plan): unknown[] {
  const { reasoning, text } = contents(plan);
  return [
    ["start", { message_id: "message-1" }],
    ...reasoning.map((piece) => ["reasoning", { text: piece }]),
    ...text.map((piece) => ["text", { text: piece }]),
    ...(plan.usage === false
      ? []
      : [["usage", { prompt_tokens: 7, completion_tokens: 5, reasoning_tokens: 2 }]]),
    ["finish", { reason: plan.finish ?? "stop" }],
  ];
}

function completionChunks(plan: Plan): unknown[] {
  const { reasoning, text } = contents(plan);
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_800_000_000,
    model: "upstream-model",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  return [
    chunk({ role: "assistant", content: "" }),
    ...reasoning.map((piece) => chunk({ reasoning_content: piece })),
    ...text.map((piece) => chunk({ content: piece })),
    chunk({}, plan.finish ?? "stop"),
    ...(plan.usage === false ? [] : [{ ...chunk({}), choices: [], usage }]),
  ];
}

function responseEvents(plan: Plan): unknown[] {
  const { reasoning, text } = contents(plan);
  const response = { id: "resp_1", object: "response", created_at: 1_800_000_000, model: "upstream-model" };
  const usage = { input_tokens: 7, output_tokens: 5, total_tokens: 12 };
  const thought = {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: reasoning.join("") }],
  };
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: text.join(""), annotations: [] }],
  };
  const output = [...(reasoning.length === 0 ? [] : [thought]), message];
  const index = output.length - 1;
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...reasoning.flatMap((delta) => [
      { type: "response.output_item.added", output_index: 0, item: { ...thought, summary: [] } },
      { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta },
      { type: "response.output_item.done", output_index: 0, item: thought },
    ]),
    { type: "response.output_item.added", output_index: index, item: { ...message, content: [] } },
    ...text.map((delta) => ({
      type: "response.output_text.delta",
      output_index: index,
      content_index: 0,
      delta,
    })),
    { type: "response.output_item.done", output_index: index, item: message },
    {
      type: "response.completed",
      response: {
        ...response,
        status: plan.finish ?? "completed",
        output,
        ...(plan.usage === false ? {} : { usage }),
      },
    },
  ];
}

function messageEvents(plan: Plan): unknown[] {
  const { reasoning, text } = contents(plan);
  const usage = plan.usage === false ? {} : { input_tokens: 7, output_tokens: 5 };
  const block = (index: number, kind: "thinking" | "text", pieces: readonly string[]): unknown[] => [
    { type: "content_block_start", index, content_block: { type: kind, [kind]: "" } },
    ...pieces.map((piece) => ({
      type: "content_block_delta",
      index,
      delta: { type: `${kind}_delta`, [kind]: piece },
    })),
    { type: "content_block_stop", index },
  ];
  return [
    {
      type: "message_start",
      message: { id: "msg_1", type: "message", role: "assistant", content: [], usage },
    },
    ...(reasoning.length === 0 ? [] : block(0, "thinking", reasoning)),
    ...block(reasoning.length, "text", text),
    { type: "message_delta", delta: { stop_reason: plan.finish ?? "end_turn" }, usage },
    { type: "message_stop" },
  ];
}

function contentChunks(plan: Plan): unknown[] {
  const { reasoning, text } = contents(plan);
  const chunk = (parts: readonly object[], more: object = {}): object => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    modelVersion: "upstream-model",
    responseId: "answer-1",
  });
  const usage = { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 };
  return [
    ...reasoning.map((piece) => chunk([{ text: piece, thought: true }])),
    ...text.map((piece) => chunk([{ text: piece }])),
    {
      ...chunk([{ text: "" }], { finishReason: plan.finish ?? "STOP" }),
      ...(plan.usage === false ? {} : { usageMetadata: usage }),
    },
  ];
}

const EVENTS: Readonly<Record<Protocol, (plan: Plan) => unknown[]>> = {
  sessions: sessionEvents,
  "chat-completions": completionChunks,
  responses: responseEvents,
  messages: messageEvents,
  "content-generation": contentChunks,
};

function contents(plan: Plan): { reasoning: string[]; text: string[] } {
  const reasoning = plan.reasoning === undefined ? [] : [plan.reasoning];
  if (plan.longLine !== undefined)
    return { reasoning, text: ["0123456789abcdef".repeat(Math.ceil(plan.longLine / 16))] };
  const text = plan.text ?? "Hello from upstream.";
  if (plan.chunks === undefined) return { reasoning, text: text.match(/\S+\s*|\s+/g) ?? [] };
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / plan.chunks));
  const pieces = Array.from({ length: plan.chunks }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(""),
  );
  return { reasoning, text: pieces.filter((piece) => piece !== "") };
}

/** An event of the sessions protocol is written as `[name, data]`. */
function block(protocol: Protocol, event: unknown): string {
  if (protocol === "sessions" && Array.isArray(event)) {
    return `event: ${event[0]}\ndata: ${JSON.stringify(event[1])}\n\n`;
  }
  const named = protocol === "responses" || protocol === "messages";
  const name = named ? `event: ${Object(event).type}\n` : "";
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
