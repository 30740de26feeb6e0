import { z } from "zod";
import { checkPublishedMessage, checkPublishedMessageEvent } from "../published.ts";
import {
  anyObject,
  argumentsOf,
  type CanonicalCompletion,
  endsAsCalled,
  itemsOf,
  rule,
  type ValidStream,
  wasCut,
  wholeArguments,
} from "./completion.ts";

const count = z.int().nonnegative();
const usageSchema = z.looseObject({ input_tokens: count.positive(), output_tokens: count });
const stopReason = z.enum(["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal"]);

const startSchema = z.strictObject({
  type: z.literal("message_start"),
  message: z.looseObject({
    id: z.string().startsWith("msg_"),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string().min(1),
    content: z.tuple([]),
    container: z.null(),
    diagnostics: z.null(),
    stop_details: z.null(),
    stop_reason: z.null(),
    stop_sequence: z.null(),
    usage: usageSchema,
  }),
});

const caller = z.strictObject({ type: z.literal("direct") });
const searchCall = {
  type: z.literal("server_tool_use"),
  id: z.string().startsWith("srvtoolu_"),
  name: z.literal("web_search"),
  caller,
};
const searchResultSchema = z.strictObject({
  type: z.literal("web_search_tool_result"),
  tool_use_id: z.string().startsWith("srvtoolu_"),
  content: z.array(
    z.strictObject({
      type: z.literal("web_search_result"),
      url: z.string().min(1),
      title: z.string(),
      encrypted_content: z.literal(""),
      page_age: z.null(),
    }),
  ),
  caller,
});

const blockSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.literal(""), citations: z.null().optional() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.literal(""), signature: z.literal("") }),
  z.strictObject({
    type: z.literal("tool_use"),
    id: z.string().min(1),
    name: z.string().min(1),
    input: z.strictObject({}),
    caller: caller.optional(),
  }),
  z.strictObject({ ...searchCall, input: z.strictObject({}) }),
  searchResultSchema,
]);

const blockStartSchema = z.strictObject({
  type: z.literal("content_block_start"),
  index: count,
  content_block: blockSchema,
});

const blockDeltaSchema = z.strictObject({
  type: z.literal("content_block_delta"),
  index: count,
  delta: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("text_delta"), text: z.string().min(1) }),
    z.strictObject({ type: z.literal("thinking_delta"), thinking: z.string().min(1) }),
    z.strictObject({ type: z.literal("input_json_delta"), partial_json: z.string().min(1) }),
  ]),
});

const blockStopSchema = z.strictObject({ type: z.literal("content_block_stop"), index: count });

const messageDeltaSchema = z.strictObject({
  type: z.literal("message_delta"),
  delta: z.strictObject({
    container: z.null(),
    stop_details: z.looseObject({ type: z.literal("refusal") }).nullable(),
    stop_reason: stopReason,
    stop_sequence: z.string().nullable(),
  }),
  usage: usageSchema,
});

const errorSchema = z.strictObject({
  type: z.literal("error"),
  error: z.looseObject({ type: z.string().min(1), message: z.string().min(1), code: z.string().min(1) }),
  request_id: z.string().min(1),
});

const DELTA_OF = {
  text: "text_delta",
  thinking: "thinking_delta",
  tool_use: "input_json_delta",
  server_tool_use: "input_json_delta",
  web_search_tool_result: "none",
} as const;

const FINISH = {
  end_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  stop_sequence: "stop",
  refusal: "content_filter",
} as const;

/** Returns the id of the search that has no result after `block`. `open`: the search without a result before it. */
function searchAfter(
  open: string | null,
  block: { type: string; id?: string; tool_use_id?: string },
): string | null {
  const result = block.type === "web_search_tool_result" ? (block.tool_use_id ?? "") : null;
  rule(open === result, "the result of a search follows it", block);
  return block.type === "server_tool_use" ? (block.id ?? "") : null;
}

/** State of a message while its events arrive. */
class MessageCheck {
  text = "";
  reasoning = "";
  readonly #calls: { name: string; text: string }[] = [];
  readonly #callIds = new Set<string>();
  /** Id of the search whose result must be the next block. */
  #search: string | null = null;
  #started = false;
  #blocks = 0;
  #open: { block: z.output<typeof blockSchema>; index: number; content: string } | null = null;
  #finish: CanonicalCompletion["finish"] = null;
  #usage: CanonicalCompletion["usage"] = null;
  #error: string | null = null;
  #ended = false;

  take(name: string, data: Record<string, unknown>): void {
    rule(!this.#ended, "nothing follows the end of a message", data);
    rule(name === data["type"], "the event line names the data's type", { name, data });
    if (name === "ping") {
      rule(Object.keys(data).length === 1, "a ping has a type only", data);
      return;
    }
    if (name === "error") {
      this.#error = errorSchema.parse(data).error.message;
      this.#ended = true;
      return;
    }
    rule(this.#started !== (name === "message_start"), "message_start comes first, and once", data);
    switch (name) {
      case "message_start":
        startSchema.parse(data);
        this.#started = true;
        break;
      case "content_block_start":
        this.#startBlock(blockStartSchema.parse(data));
        break;
      case "content_block_delta":
        this.#delta(blockDeltaSchema.parse(data));
        break;
      case "content_block_stop":
        this.#stopBlock(blockStopSchema.parse(data));
        break;
      case "message_delta":
        this.#messageDelta(messageDeltaSchema.parse(data));
        break;
      case "message_stop":
        rule(this.#finish !== null, "message_delta comes before message_stop");
        this.#ended = true;
        break;
      default:
        throw new Error(`unknown event ${name}`);
    }
  }

  completion(): CanonicalCompletion {
    rule(this.#ended, "a message ends with message_stop or with an error");
    const failed = this.#error !== null;
    return {
      text: this.text,
      reasoning: this.reasoning,
      toolCalls: this.#whole(),
      finish: failed ? null : this.#finish,
      usage: failed ? null : this.#usage,
      error: this.#error,
    };
  }

  /** Returns the complete calls. If the answer was cut off, the last call may be a fragment. */
  #whole(): CanonicalCompletion["toolCalls"] {
    return this.#calls.flatMap(({ name, text }, index) => {
      const open = wasCut(this.#finish) && index === this.#calls.length - 1;
      const found = open ? wholeArguments(text) : argumentsOf(text);
      return found === null ? [] : [{ name, arguments: found }];
    });
  }

  #startBlock({ index, content_block: block }: z.output<typeof blockStartSchema>): void {
    rule(this.#open === null, "one block is open at a time", index);
    rule(this.#finish === null, "no block follows message_delta", index);
    rule(index === this.#blocks, "indices count up without a gap", { index, expected: this.#blocks });
    this.#blocks += 1;
    this.#open = { block, index, content: "" };
    this.#search = searchAfter(this.#search, block);
    if (block.type !== "tool_use" && block.type !== "server_tool_use") return;
    rule(!this.#callIds.has(block.id), "calls have distinct ids", block.id);
    this.#callIds.add(block.id);
  }

  #delta({ index, delta }: z.output<typeof blockDeltaSchema>): void {
    const open = this.#open;
    rule(open !== null && open.index === index, "a delta belongs to the open block", index);
    rule(delta.type === DELTA_OF[open.block.type], "a delta has its block's type", delta);
    if (delta.type === "text_delta") open.content += delta.text;
    else if (delta.type === "thinking_delta") open.content += delta.thinking;
    else open.content += delta.partial_json;
  }

  #stopBlock({ index }: z.output<typeof blockStopSchema>): void {
    const open = this.#open;
    rule(open !== null && open.index === index, "the open block is closed", index);
    this.#open = null;
    if (open.block.type === "web_search_tool_result") return;
    rule(open.content !== "", "no block is empty", open.block);
    if (open.block.type === "server_tool_use") argumentsOf(open.content);
    else if (open.block.type === "text") this.text += open.content;
    else if (open.block.type === "thinking") this.reasoning += open.content;
    else this.#calls.push({ name: open.block.name, text: open.content });
  }

  #messageDelta({ delta, usage }: z.output<typeof messageDeltaSchema>): void {
    rule(this.#open === null, "all blocks are closed before message_delta");
    rule(this.#finish === null, "message_delta comes once");
    rule(this.#search === null, "each search has a result", this.#search);
    this.#finish = FINISH[delta.stop_reason];
    endsAsCalled(this.#finish, this.#whole().length);
    this.#usage = { prompt: usage.input_tokens, completion: usage.output_tokens };
  }
}

/** Checks a message-style stream against every rule of its dialect. Throws with the violated rule. */
export function validateMessagesStream(text: string): ValidStream {
  const { items, keepAlives } = itemsOf(text);
  rule(keepAlives.comments === 0 && keepAlives.blank === 0, "keep-alives are ping events");
  const check = new MessageCheck();
  const events = items.map(({ event, data }) => {
    rule(event !== null, "every item has an event line", data);
    const parsed = anyObject.parse(JSON.parse(data));
    check.take(event, parsed);
    if (event !== "ping") checkPublishedMessageEvent(parsed);
    return parsed;
  });
  return { events, completion: check.completion() };
}

const messageSchema = z.looseObject({
  id: z.string().startsWith("msg_"),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string().min(1),
  content: z.array(
    z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text"), text: z.string().min(1), citations: z.null().optional() }),
      z.strictObject({ type: z.literal("thinking"), thinking: z.string().min(1), signature: z.literal("") }),
      z.strictObject({
        type: z.literal("tool_use"),
        id: z.string().min(1),
        name: z.string().min(1),
        input: anyObject,
        caller: caller.optional(),
      }),
      z.strictObject({ ...searchCall, input: z.strictObject({ query: z.string().optional() }) }),
      searchResultSchema,
    ]),
  ),
  stop_reason: stopReason,
  stop_sequence: z.string().nullable(),
  usage: usageSchema,
});

/** Converts a non-streamed message to the canonical form. Throws if it violates a rule of its dialect. */
export function canonicalMessage(body: unknown): CanonicalCompletion {
  checkPublishedMessage(anyObject.parse(body));
  const message = messageSchema.parse(body);
  let text = "";
  let reasoning = "";
  const toolCalls: { name: string; arguments: Record<string, unknown> }[] = [];
  let search: string | null = null;
  for (const block of message.content) {
    search = searchAfter(search, block);
    if (block.type === "text") text += block.text;
    else if (block.type === "thinking") reasoning += block.thinking;
    else if (block.type === "tool_use") toolCalls.push({ name: block.name, arguments: block.input });
  }
  rule(search === null, "each search has a result", search);
  const finish = FINISH[message.stop_reason];
  endsAsCalled(finish, toolCalls.length);
  const usage = { prompt: message.usage.input_tokens, completion: message.usage.output_tokens };
  return { text, reasoning, toolCalls, finish, usage, error: null };
}
