import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { JsonObjectScanner } from "./json-object-scanner.ts";
import type { ProviderEvent } from "./provider-events.ts";

/** A tool call that is being assembled. */
interface Call {
  /** Its position among the upstream's calls. */
  readonly position: number;
  /** The upstream's index, or -1 if it states none. */
  readonly upstreamIndex: number;
  upstreamId: string;
  name: string;
  /** Tracks whether the arguments are complete. */
  readonly object: JsonObjectScanner;
  /** The arguments that have not been emitted yet. */
  waiting: string;
  /** Whether it is the call of a custom tool, whose input is text, not JSON. Its arguments become `{"input": text}`. */
  readonly isCustom: boolean;
  /** Whether the arguments are empty or only white space so far. */
  blank: boolean;
  /** The index in the emitted events, or -1 before the call is emitted. */
  index: number;
}

/**
 * Turns pieces of native tool calls into tool-call events. Emits one call at a time, with indices from 0 and a unique
 * id for each. A piece has the form that chat-completions backends stream: `{index, id, function: {name,
 * arguments}}`, or `custom: {name, input}`; any member may be missing. A call whose arguments are not a complete JSON
 * object at the end of the answer gets no end event.
 *
 * Engines differ. A call may come whole or in pieces, with or without index and id. Several calls may share index 0
 * and differ only in their id. Each piece may repeat id and name. Arguments may be an object instead of text. Pieces
 * of a later call wait until the earlier call is complete.
 */
export class ToolCallAssembler {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #newId: () => string;
  readonly #calls: Call[] = [];
  /** The last call with this index, with this id, and with both. */
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #byBoth = new Map<string, Call>();
  readonly #usedIds = new Set<string>();
  /** Position in `#calls` of the call that is being emitted. Later calls wait. */
  #open = 0;

  constructor(emit: (event: ProviderEvent) => void, newId: () => string) {
    this.#emit = emit;
    this.#newId = newId;
  }

  /** Whether the upstream has made any tool call. */
  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** Whether the arguments of all calls are complete. */
  get complete(): boolean {
    return this.#calls.every(
      (call) => call.name !== "" && (call.isCustom || call.blank || call.object.complete),
    );
  }

  /**
   * Adds one piece, or a list of pieces.
   *
   * @param isWhole whether each entry is a call of its own, even if several share an id or an index
   */
  take(value: unknown, isWhole = false): void {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (isObject(item)) this.#takeOne(item, isWhole);
    }
    this.#advance();
  }

  /** Other content follows: ends the current call if its arguments are complete. */
  settle(): void {
    const call = this.#calls[this.#open];
    if (call === undefined || call.index === -1 || !call.object.complete) return;
    this.#emit({ type: "tool-call-end", index: call.index });
    this.#open++;
    this.#advance();
  }

  /**
   * Ends the answer: emits everything that waited. If the answer was `cut` off, the last call may lack arguments;
   * otherwise a call without arguments has none and gets `{}`.
   */
  finish(isCut: boolean): void {
    for (; this.#open < this.#calls.length; this.#open++) {
      const call = this.#calls[this.#open];
      if (call === undefined) return;
      const mayBeCut = isCut && this.#open === this.#calls.length - 1;
      if (call.name === "") {
        if (mayBeCut) return;
        throw new ProviderError("malformed", "the provider made a tool call without a name");
      }
      if (call.isCustom && !mayBeCut) appendArguments(call, '"}');
      else if (call.blank && !mayBeCut) appendArguments(call, "{}");
      this.#sendOn(call);
      if (call.object.complete) this.#emit({ type: "tool-call-end", index: call.index });
    }
  }

  #takeOne(item: JsonObject, isWhole: boolean): void {
    const { function: nested, custom } = item;
    const index = typeof item["index"] === "number" ? item["index"] : -1;
    const id = typeof item["id"] === "string" ? item["id"] : "";
    // The deprecated `function_call` has its members at the top level.
    const { name: named, arguments: args, input } = [nested, custom].find(isObject) ?? item;
    const name = typeof named === "string" ? named : "";
    let call = isWhole ? undefined : this.#find(index, id, name);
    if (call === undefined) {
      call = {
        position: this.#calls.length,
        upstreamIndex: index,
        upstreamId: "",
        name: "",
        object: new JsonObjectScanner(),
        isCustom: isObject(custom),
        waiting: "",
        blank: true,
        index: -1,
      };
      if (call.isCustom) appendArguments(call, '{"input":"');
      this.#calls.push(call);
      this.#byIndex.set(index, call);
    }
    if (call.upstreamId === "" && id !== "") {
      call.upstreamId = id;
      keepLast(this.#byId, id, call);
      keepLast(this.#byBoth, `${call.upstreamIndex} ${id}`, call);
    }
    if (call.name === "") call.name = name;
    if (call.isCustom) {
      // The text within the quotes of a JSON string.
      if (typeof input === "string") appendArguments(call, JSON.stringify(input).slice(1, -1));
    } else if (typeof args === "string") appendArguments(call, args);
    else if (isObject(args)) appendArguments(call, JSON.stringify(args));
  }

  /** Finds the call of a piece. Undefined: the piece starts a new call. */
  #find(index: number, id: string, name: string): Call | undefined {
    const candidate = index === -1 ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (id !== "") {
      const known = index === -1 ? this.#byId.get(id) : this.#byBoth.get(`${index} ${id}`);
      if (known !== undefined) return known;
      // A different id at the same index is a new call, unless the first piece came without an id.
      return candidate?.upstreamId === "" && !(name !== "" && candidate.object.complete)
        ? candidate
        : undefined;
    }
    if (candidate === undefined || name === "" || candidate.name === "") return candidate;
    // A name without an id: either the next call, or the same call with a repeated name.
    return candidate.name === name && !candidate.object.complete ? candidate : undefined;
  }

  /** Emits the current call, and moves to the next one when the current call is certainly complete. */
  #advance(): void {
    for (;;) {
      const call = this.#calls[this.#open];
      if (call === undefined || call.name === "") return;
      this.#sendOn(call);
      if (this.#open === this.#calls.length - 1 || !call.object.complete) return;
      this.#emit({ type: "tool-call-end", index: call.index });
      this.#open++;
    }
  }

  #sendOn(call: Call): void {
    if (call.index === -1) {
      call.index = this.#open;
      this.#emit({ type: "tool-call", index: call.index, id: this.#idOf(call), name: call.name });
    }
    if (call.blank || call.waiting === "") return;
    this.#emit({ type: "tool-arguments", index: call.index, delta: call.waiting });
    call.waiting = "";
  }

  #idOf(call: Call): string {
    const id = call.upstreamId === "" || this.#usedIds.has(call.upstreamId) ? this.#newId() : call.upstreamId;
    this.#usedIds.add(id);
    return id;
  }
}

/** Appends a piece of a call's arguments. */
function appendArguments(call: Call, piece: string): void {
  call.waiting += piece;
  call.blank &&= piece.trim() === "";
  call.object.push(piece);
}

/** If several calls share an id, keeps the one with the highest position. */
function keepLast(calls: Map<string, Call>, id: string, call: Call): void {
  if ((calls.get(id)?.position ?? -1) < call.position) calls.set(id, call);
}
