import { text } from "node:stream/consumers";
import { serve } from "./local-server.ts";

/** A block of a message, of any type. */
interface Block {
  readonly type: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
}

/** The checked fields of a request. */
interface Request {
  readonly max_tokens: number;
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number };
  readonly temperature?: number;
  readonly tool_choice?: { readonly type: string };
  readonly tools?: readonly { readonly name: string }[];
}

/** A running backend of the message style. */
export interface StrictMessages {
  /** Without a trailing slash. */
  readonly url: string;
  /** Accepted requests. */
  readonly taken: readonly Request[];
  /** Reasons why it rejected the other requests. */
  readonly refusals: readonly string[];
  close(): Promise<void>;
}

const sign = (thinking: string): string => Buffer.from(`signed: ${thinking}`).toString("base64");

/**
 * Starts a backend of the message style that is as strict as the real service about the order of messages, calls and their
 * results, and thinking blocks, which must return with their signatures. Calls two tools in parallel for `rounds` rounds,
 * if tools are offered, and then answers.
 */
export async function startStrictMessages(rounds: number): Promise<StrictMessages> {
  const taken: Request[] = [];
  const refusals: string[] = [];
  const { origin, close } = await serve(async (incoming, outgoing) => {
    const request: Request = JSON.parse(await text(incoming));
    const message = faultOf(request);
    if (message !== null) {
      refusals.push(message);
      const error = { type: "invalid_request_error", message };
      outgoing.writeHead(400, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ type: "error", error }));
      return;
    }
    taken.push(request);
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of eventsOf(request, rounds)) {
      outgoing.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    outgoing.end();
  });
  return {
    url: origin,
    taken,
    refusals,
    close,
  };
}

/** Returns why a request is invalid; null: it is valid. */
function faultOf({
  max_tokens: limit,
  messages,
  thinking,
  temperature,
  tool_choice: choice,
}: Request): string | null {
  const budget = thinking?.type === "enabled" ? (thinking.budget_tokens ?? 0) : null;
  if (!(limit >= 1)) return "max_tokens: Field required";
  if (budget !== null) {
    if (budget < 1024 || budget >= limit) return "`max_tokens` must be greater than `thinking.budget_tokens`";
    if (temperature !== undefined) return "`temperature` may only be set to 1 when thinking is enabled";
    if (choice?.type === "any" || choice?.type === "tool")
      return "Thinking may not be enabled when tool_choice forces tool use.";
  }
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? "user" : "assistant")) return "messages: roles must alternate";
    if (content.length === 0) return "messages: all messages must have non-empty content";
    for (const block of content) {
      if (block.type === "text" && block.text?.trim() === "")
        return "messages: text content blocks must be non-empty";
      if (block.type === "thinking" && block.signature !== sign(block.thinking ?? ""))
        return "Invalid `signature`";
    }
    const calls = (messages[index - 1]?.content ?? []).flatMap(({ type, id }) =>
      type === "tool_use" ? [id] : [],
    );
    const results = content.flatMap(({ type, tool_use_id: id }) => (type === "tool_result" ? [id] : []));
    if (calls.toSorted().join() !== results.toSorted().join())
      return "`tool_use` ids without `tool_result` blocks";
  }
  const [before, last] = messages.slice(-2);
  const loops = last?.content.some(({ type }) => type === "tool_result") ?? false;
  if (budget !== null && loops && before?.content[0]?.type !== "thinking")
    return "Expected `thinking`, but found `tool_use`";
  return null;
}

function* eventsOf({ messages, thinking, tools, tool_choice: choice }: Request, rounds: number) {
  const usage = { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 };
  yield {
    type: "message_start",
    message: { id: "msg_1", type: "message", role: "assistant", content: [], usage },
  };
  let index = 0;
  if (thinking?.type === "enabled") {
    const thought = `Message ${messages.length} it is.`;
    yield {
      type: "content_block_start",
      index,
      content_block: { type: "thinking", thinking: "", signature: "" },
    };
    yield { type: "content_block_delta", index, delta: { type: "thinking_delta", thinking: thought } };
    yield {
      type: "content_block_delta",
      index,
      delta: { type: "signature_delta", signature: sign(thought) },
    };
    yield { type: "content_block_stop", index: index++ };
  }
  const done = messages.filter(({ content }) => content.some(({ type }) => type === "tool_result")).length;
  const [tool] = tools ?? [];
  const calls = tool !== undefined && choice?.type !== "none" && done < rounds;
  for (const city of calls ? ["Oslo", "Rome"] : []) {
    const id = `toolu_01${crypto.randomUUID().replaceAll("-", "")}`;
    yield {
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id, name: tool?.name, input: {} },
    };
    const json = JSON.stringify({ city });
    yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: json } };
    yield { type: "content_block_stop", index: index++ };
  }
  if (!calls) {
    yield { type: "content_block_start", index, content_block: { type: "text", text: "" } };
    yield { type: "content_block_delta", index, delta: { type: "text_delta", text: "Cold and warm." } };
    yield { type: "content_block_stop", index };
  }
  const reason = calls ? "tool_use" : "end_turn";
  yield { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 42 } };
  yield { type: "message_stop" };
}
