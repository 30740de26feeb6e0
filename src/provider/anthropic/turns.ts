import type { CacheMark } from "../../conversation/cache-mark.ts";
import type { JsonObject } from "../../encoding/json.ts";
import { OwnIds } from "../own-ids.ts";
import { cacheControl } from "./cache.ts";
import type { WireBlock, WireMessage, WirePart, WireResult, WireText, WireThought } from "./wire.ts";

/** User text for a conversation that does not begin with the user, as the protocol requires. */
const OPENING: WirePart = { type: "text", text: "Begin." };

/** A tool call of an earlier answer. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly cache?: CacheMark;
  /** The thinking blocks before the call; undefined: not known. */
  readonly thoughts: readonly WireThought[] | undefined;
}

interface Turn {
  readonly role: "user" | "assistant";
  /** Tool results come first in a user turn. */
  readonly results: WireResult[];
  readonly blocks: WireBlock[];
  /** Whether the thinking blocks before each call of this turn are known. */
  known: boolean;
}

/**
 * Puts a conversation into the order that the protocol requires: roles alternate, the user begins, each call has a
 * unique id and exactly one result in the turn that follows.
 */
export class Turns {
  readonly #turns: Turn[] = [];
  /** Calls of the last answer that have no result yet: the caller's id and the id that is sent. */
  readonly #open = new Map<string, string>();
  readonly #ids = new OwnIds();

  /** Adds parts to the turn of a role. Blank text is left out, because the protocol rejects it. */
  say(role: "user" | "assistant", parts: readonly WirePart[]): void {
    const saying = parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
    if (saying.length === 0) return;
    const { blocks } = this.#turn(role);
    for (const part of saying) blocks.push(part);
  }

  /** Adds an assistant message. The thinking before its first call comes first. */
  answer(said: WireText, calls: readonly AnsweredCall[]): void {
    const [first] = calls;
    if (first !== undefined) this.#think(first);
    this.say("assistant", [said]);
    for (const [position, call] of calls.entries()) {
      if (position > 0) this.#think(call);
      const id = this.#ownId(call.id);
      this.#open.set(call.id, id);
      const { name, input, cache } = call;
      this.#turn("assistant").blocks.push({ type: "tool_use", id, name, input, ...cacheControl(cache) });
    }
  }

  /** Adds the result of a call. Returns false if no call of the last answer with this id waits for a result. */
  result(callId: string, parts: readonly WirePart[], isError: boolean, cache?: CacheMark): boolean {
    const id = this.#open.get(callId);
    if (id === undefined) return false;
    this.#open.delete(callId);
    this.#turn("user").results.push({
      type: "tool_result",
      tool_use_id: id,
      ...(parts.length === 0 ? {} : { content: parts }),
      ...(isError ? { is_error: true } : {}),
      ...cacheControl(cache),
    });
    return true;
  }

  /**
   * Returns the messages, and whether the model may think in its answer; if not, the messages contain no thinking
   * blocks. `strict`: the model may think only if all earlier thinking blocks are known.
   */
  finish(strict: boolean): { readonly messages: readonly WireMessage[]; readonly mayThink: boolean } {
    this.#settle();
    if (this.#turns[0]?.role !== "user") {
      this.#turns.unshift({ role: "user", results: [], blocks: [OPENING], known: true });
    }
    const last = this.#turns.at(-1);
    const begun = last?.blocks.at(-1);
    // A prefilled answer must not end in white space.
    if (last?.role === "assistant" && begun?.type === "text") {
      last.blocks[last.blocks.length - 1] = { ...begun, text: begun.text.trimEnd() };
    }
    const mayThink = this.#mayThink(strict);
    const messages = this.#turns.map(({ role, results, blocks }) => ({
      role,
      content: [...results, ...(mayThink ? blocks : blocks.filter((block) => !isThought(block)))],
    }));
    return { messages, mayThink };
  }

  /**
   * A prefilled answer is continued without thinking. During tool use the protocol treats all answers since the last
   * user message as one turn. A strict model requires that this turn begins with a thinking block, and that none of its
   * thinking blocks is missing.
   */
  #mayThink(strict: boolean): boolean {
    let at = this.#turns.length - 1;
    let first: Turn | undefined;
    if (this.#turns[at]?.role === "assistant") return false;
    if (!strict) return true;
    while ((this.#turns[at]?.results.length ?? 0) > 0) {
      first = this.#turns[at - 1];
      if (first?.known !== true) return false;
      at -= 2;
    }
    return first === undefined || (first.blocks[0] !== undefined && isThought(first.blocks[0]));
  }

  #think({ thoughts }: AnsweredCall): void {
    const turn = this.#turn("assistant");
    if (thoughts === undefined) turn.known = false;
    else for (const thought of thoughts) turn.blocks.push(thought);
  }

  #turn(role: "user" | "assistant"): Turn {
    const last = this.#turns.at(-1);
    if (last?.role === role) return last;
    if (role === "assistant") this.#settle();
    const turn: Turn = { role, results: [], blocks: [], known: true };
    this.#turns.push(turn);
    return turn;
  }

  /** Adds an error result for each call that the caller left without a result. */
  #settle(): void {
    for (const id of this.#open.keys()) {
      this.result(id, [{ type: "text", text: "There is no result." }], true);
    }
  }

  /** The id that a call is sent with. The protocol allows only letters, digits, `_` and `-`, and requires unique ids. */
  #ownId(id: string): string {
    return this.#ids.take(id.replace(/[^\w-]/g, "_") || "call");
  }
}

function isThought(block: WireBlock): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}
