import type { CacheBreakpoint } from "../../../core/conversation/cache-breakpoint.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { CallsWithoutResult } from "../requests/calls-without-result.ts";
import { UniqueCallIds } from "../requests/unique-call-ids.ts";
import { cacheControl } from "./cache-control.ts";
import type {
  WireBlock,
  WireMessage,
  WirePart,
  WireText,
  WireThinkingBlock,
  WireToolResult,
} from "./wire.ts";

/** User text for a conversation that does not begin with the user, as the protocol requires. */
const PLACEHOLDER_USER_TEXT: WirePart = { type: "text", text: "Begin." };

/** A tool call of an earlier answer. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly cache?: CacheBreakpoint;
  /** The thinking blocks before the call; undefined: not known. */
  readonly thoughts: readonly WireThinkingBlock[] | undefined;
}

interface Turn {
  readonly role: "user" | "assistant";
  /** Tool results come first in a user turn. */
  readonly results: WireToolResult[];
  readonly blocks: WireBlock[];
  /** Whether the thinking blocks before each call of this turn are known. */
  isThinkingKnown: boolean;
}

/**
 * Puts a conversation into the order that the protocol requires: roles alternate, the user begins, each call has a
 * unique id and exactly one result in the turn that follows.
 */
export class Turns {
  readonly #turns: Turn[] = [];
  /** The sent ids of the last answer's calls that have no result yet. */
  readonly #callsWithoutResult = new CallsWithoutResult<string>();
  readonly #ids = new UniqueCallIds();

  /** Adds parts to the turn of a role. Blank text is left out, because the protocol rejects it. */
  addParts(role: "user" | "assistant", parts: readonly WirePart[]): void {
    const nonEmptyParts = parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
    if (nonEmptyParts.length === 0) return;
    const { blocks } = this.#getOrAddTurn(role);
    for (const part of nonEmptyParts) blocks.push(part);
  }

  /** Adds an assistant message. The thinking before its first call comes first. */
  addAnswer(answerText: WireText, calls: readonly AnsweredCall[]): void {
    const [first] = calls;
    if (first !== undefined) this.#addThinking(first);
    this.addParts("assistant", [answerText]);
    for (const [position, call] of calls.entries()) {
      if (position > 0) this.#addThinking(call);
      const id = this.#uniqueId(call.id);
      this.#callsWithoutResult.add(call.id, id);
      const { name, input, cache } = call;
      this.#getOrAddTurn("assistant").blocks.push({
        type: "tool_use",
        id,
        name,
        input,
        ...cacheControl(cache),
      });
    }
  }

  /** Adds the result of a call. Returns false if no call of the last answer with this id waits for a result. */
  recordResult(
    callId: string,
    parts: readonly WirePart[],
    isError: boolean,
    cache?: CacheBreakpoint,
  ): boolean {
    const id = this.#callsWithoutResult.take(callId);
    if (id === undefined) return false;
    this.#addResult(id, parts, isError, cache);
    return true;
  }

  /**
   * Returns the messages, and whether the model may think in its answer; if not, the messages contain no thinking
   * blocks. `strict`: the model may think only if all earlier thinking blocks are known.
   */
  finish(strict: boolean): { readonly messages: readonly WireMessage[]; readonly mayThink: boolean } {
    this.#addMissingResults();
    if (this.#turns[0]?.role !== "user") {
      this.#turns.unshift({
        role: "user",
        results: [],
        blocks: [PLACEHOLDER_USER_TEXT],
        isThinkingKnown: true,
      });
    }
    const last = this.#turns.at(-1);
    const lastBlock = last?.blocks.at(-1);
    // A prefilled answer must not end in white space.
    if (last?.role === "assistant" && lastBlock?.type === "text") {
      last.blocks[last.blocks.length - 1] = { ...lastBlock, text: lastBlock.text.trimEnd() };
    }
    const mayThink = this.#mayThink(strict);
    const messages = this.#turns.map(({ role, results, blocks }) => ({
      role,
      content: [...results, ...(mayThink ? blocks : blocks.filter((block) => !isThinkingBlock(block)))],
    }));
    return { messages, mayThink };
  }

  /**
   * A prefilled answer is continued without thinking. During tool use the protocol treats all answers since the last
   * user message as one turn. A strict model requires that this turn begins with a thinking block, and that none of its
   * thinking blocks is missing.
   */
  #mayThink(strict: boolean): boolean {
    let index = this.#turns.length - 1;
    let first: Turn | undefined;
    if (this.#turns[index]?.role === "assistant") return false;
    if (!strict) return true;
    while ((this.#turns[index]?.results.length ?? 0) > 0) {
      first = this.#turns[index - 1];
      if (first?.isThinkingKnown !== true) return false;
      index -= 2;
    }
    return first === undefined || (first.blocks[0] !== undefined && isThinkingBlock(first.blocks[0]));
  }

  #addThinking({ thoughts }: AnsweredCall): void {
    const turn = this.#getOrAddTurn("assistant");
    if (thoughts === undefined) turn.isThinkingKnown = false;
    else for (const thought of thoughts) turn.blocks.push(thought);
  }

  #getOrAddTurn(role: "user" | "assistant"): Turn {
    const last = this.#turns.at(-1);
    if (last?.role === role) return last;
    if (role === "assistant") this.#addMissingResults();
    const turn: Turn = { role, results: [], blocks: [], isThinkingKnown: true };
    this.#turns.push(turn);
    return turn;
  }

  /** Adds an error result for each call that the caller left without a result. */
  #addMissingResults(): void {
    for (const id of this.#callsWithoutResult.takeAll()) {
      this.#addResult(id, [{ type: "text", text: "There is no result." }], true);
    }
  }

  #addResult(id: string, parts: readonly WirePart[], isError: boolean, cache?: CacheBreakpoint): void {
    this.#getOrAddTurn("user").results.push({
      type: "tool_result",
      tool_use_id: id,
      ...(parts.length === 0 ? {} : { content: parts }),
      ...(isError ? { is_error: true } : {}),
      ...cacheControl(cache),
    });
  }

  /** The id that a call is sent with. The protocol allows only letters, digits, `_` and `-`, and requires unique ids. */
  #uniqueId(id: string): string {
    return this.#ids.assign(id.replace(/[^\w-]/g, "_") || "call");
  }
}

function isThinkingBlock(block: WireBlock): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}
