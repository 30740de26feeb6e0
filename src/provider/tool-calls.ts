import { isObject, type JsonObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { ObjectText } from "./object-text.ts";
import type { ProviderEvent } from "./provider.ts";

/** A call that is being assembled. */
interface Call {
  /** Its place among the upstream's calls. */
  readonly position: number;
  /** The upstream's index, or -1 when it gives none. */
  readonly upstreamIndex: number;
  upstreamId: string;
  name: string;
  /** Follows the arguments, each piece of them once. */
  readonly object: ObjectText;
  /** What of the arguments has not been sent on. */
  waiting: string;
  /** Nothing but white space has come. */
  blank: boolean;
  /** Our index, or -1 while it is not announced. */
  index: number;
}

/**
 * Turns the pieces of native tool calls into tool-call events: announced, filled and finished one call at a time, indices
 * from 0, every id present and distinct. A piece is what chat-completions backends stream: `{index, id, function: {name,
 * arguments}}`, of which all may be missing. A call whose arguments are no JSON object when the answer is over has no end.
 *
 * Engines differ: a call may come whole or in pieces; with or without index and id; several calls may share index 0
 * and differ in id only; id and name may be repeated in each piece; arguments may be an object instead of text. Pieces
 * of a later call that arrive while an earlier one is unfinished wait for it.
 */
export class ToolCallAssembler {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #newId: () => string;
  readonly #calls: Call[] = [];
  /** The last call with an index, with an id, and with both. */
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #byBoth = new Map<string, Call>();
  readonly #usedIds = new Set<string>();
  /** Position in `#calls` of the call that streams; those after it wait. */
  #open = 0;

  constructor(emit: (event: ProviderEvent) => void, newId: () => string) {
    this.#emit = emit;
    this.#newId = newId;
  }

  /** Whether the upstream has made any call. */
  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** Whether the arguments of all calls are complete. */
  get complete(): boolean {
    return this.#calls.every((call) => call.name !== "" && (call.blank || call.object.complete));
  }

  /** Takes one piece, or several. */
  take(value: unknown): void {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (isObject(item)) this.#takeOne(item);
    }
    this.#advance();
  }

  /** Something else follows: the call that streams has ended, if its arguments are complete. */
  settle(): void {
    const call = this.#calls[this.#open];
    if (call === undefined || call.index === -1 || !call.object.complete) return;
    this.#emit({ type: "tool-call-end", index: call.index });
    this.#open++;
    this.#advance();
  }

  /**
   * The upstream has finished: sends on whatever waited. If it was `cut` off, the last call may have more arguments than came;
   * otherwise one without any has none.
   */
  finish(cut: boolean): void {
    for (; this.#open < this.#calls.length; this.#open++) {
      const call = this.#calls[this.#open];
      if (call === undefined) return;
      const unsure = cut && this.#open === this.#calls.length - 1;
      if (call.name === "") {
        if (unsure) return;
        throw new ProviderError("malformed", "the provider made a tool call without a name");
      }
      if (call.blank && !unsure) add(call, "{}");
      this.#sendOn(call);
      if (call.object.complete) this.#emit({ type: "tool-call-end", index: call.index });
    }
  }

  #takeOne(item: JsonObject): void {
    const { function: nested } = item;
    const index = typeof item["index"] === "number" ? item["index"] : -1;
    const id = typeof item["id"] === "string" ? item["id"] : "";
    // The retired `function_call` has its members at the top.
    const { name: named, arguments: args } = isObject(nested) ? nested : item;
    const name = typeof named === "string" ? named : "";
    let call = this.#find(index, id, name);
    if (call === undefined) {
      call = {
        position: this.#calls.length,
        upstreamIndex: index,
        upstreamId: "",
        name: "",
        object: new ObjectText(),
        waiting: "",
        blank: true,
        index: -1,
      };
      this.#calls.push(call);
      this.#byIndex.set(index, call);
    }
    if (call.upstreamId === "" && id !== "") {
      call.upstreamId = id;
      keepLast(this.#byId, id, call);
      keepLast(this.#byBoth, `${call.upstreamIndex} ${id}`, call);
    }
    if (call.name === "") call.name = name;
    if (typeof args === "string") add(call, args);
    else if (isObject(args)) add(call, JSON.stringify(args));
  }

  /** The call that a piece belongs to; undefined: a new one. */
  #find(index: number, id: string, name: string): Call | undefined {
    const candidate = index === -1 ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (id !== "") {
      const known = index === -1 ? this.#byId.get(id) : this.#byBoth.get(`${index} ${id}`);
      if (known !== undefined) return known;
      // Another id at the same place is another call, unless the first piece came without one.
      return candidate?.upstreamId === "" && !(name !== "" && candidate.object.complete)
        ? candidate
        : undefined;
    }
    if (candidate === undefined || name === "" || candidate.name === "") return candidate;
    // A name without an id: the next call, or the same one with its name repeated.
    return candidate.name === name && !candidate.object.complete ? candidate : undefined;
  }

  /** Streams the open call, and goes on to the next one as soon as it is certain that the open one is complete. */
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

/** Adds a piece of a call's arguments. */
function add(call: Call, piece: string): void {
  call.waiting += piece;
  call.blank &&= piece.trim() === "";
  call.object.push(piece);
}

/** Of several calls with one id the last in place is meant. */
function keepLast(calls: Map<string, Call>, id: string, call: Call): void {
  if ((calls.get(id)?.position ?? -1) < call.position) calls.set(id, call);
}
