import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { GenerationEvent } from "../../../core/conversation/events.ts";
import { SurrogateJoiner } from "../../../core/encoding/surrogate-joiner.ts";

/** The calls of one answer, as the caller sees them: those that the tool choice allows, one at a time. */
export class CallAssembler {
  readonly #parallel: boolean;
  /** The only function that the request allows. Null: it allows more than one. */
  readonly #forcedFunction: string | null;
  /** Whether the request has tools, and allows no call of them. */
  readonly #forbidsCalls: boolean;
  /** How many calls have begun, and how many have ended. */
  #announced = 0;
  #ended = 0;
  #open = -1;
  /** Joins the arguments of the open call. */
  readonly #pairs = new SurrogateJoiner();
  /** The open call has no arguments yet. */
  #hasNoArguments = false;
  /** Whether a call of this turn did not end. */
  #hasCut = false;
  /** Calls that the request does not allow, which are left out, and whether one of them is open. */
  #omitted = 0;
  #isOmitting = false;
  #isDone = false;
  /** Index of this turn's first native call: a call that the provider's protocol states, not one in tool markup. */
  #firstNativeIndex = 0;

  constructor({ tools, toolChoice, parallelToolCalls }: Conversation, usesTools: boolean) {
    this.#parallel = parallelToolCalls;
    this.#forcedFunction = usesTools && toolChoice.type === "function" ? toolChoice.name : null;
    this.#forbidsCalls = tools.length > 0 && !usesTools;
  }

  get announced(): number {
    return this.#announced;
  }

  get ended(): number {
    return this.#ended;
  }

  get omitted(): number {
    return this.#omitted;
  }

  /** The only call that the caller allows has been made. Later output of the upstream is recorded but not forwarded. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** The caller's index of a native call; `index` counts the calls of this turn. */
  nativeIndex(index: number): number {
    return this.#firstNativeIndex + index - this.#omitted;
  }

  /** Ends the call before this one. Returns false for a call that the request does not allow: it is left out. */
  admit(name: string, out: GenerationEvent[]): boolean {
    this.cut(out);
    this.#isOmitting = !this.#allows(name);
    if (this.#isOmitting) this.#omitted += 1;
    return !this.#isOmitting;
  }

  /** Begins a call that {@link admit} has admitted. */
  begin(index: number, name: string, id: string, out: GenerationEvent[]): void {
    this.#open = index;
    this.#hasNoArguments = true;
    this.#announced = Math.max(this.#announced, index + 1);
    out.push({ type: "tool-call", index, id, name });
  }

  appendArguments(delta: string, out: GenerationEvent[]): void {
    if (this.#isOmitting) return;
    this.#hasNoArguments = false;
    this.#emitArguments(delta === "" ? "" : this.#pairs.push(delta), out);
  }

  end(out: GenerationEvent[]): void {
    if (this.#isOmitting) {
      this.#isOmitting = false;
      return;
    }
    this.#emitArguments(this.#pairs.flush(), out);
    out.push({ type: "tool-call-end", index: this.#open });
    this.#open = -1;
    this.#ended += 1;
    this.#isDone = !this.#parallel;
  }

  /** Cuts off the open call, if there is one. */
  cut(out: GenerationEvent[]): void {
    this.#isOmitting = false;
    if (this.#open < 0) return;
    this.#hasCut = true;
    this.#emitArguments(this.#pairs.flush(), out);
    // Many clients read missing arguments as `{}`, so the call gets an incomplete object.
    if (this.#hasNoArguments) this.appendArguments("{", out);
    this.#open = -1;
  }

  /** Ends an upstream turn. Returns whether one of its calls did not end. */
  endTurn(): boolean {
    const hasCut = this.#hasCut;
    this.#hasCut = false;
    this.#firstNativeIndex = this.#announced + this.#omitted;
    return hasCut;
  }

  #emitArguments(delta: string, out: GenerationEvent[]): void {
    if (delta !== "") out.push({ type: "tool-arguments", index: this.#open, delta });
  }

  /** Whether a call may follow the request's tool choice. A model may leave out the namespace of a function. */
  #allows(name: string): boolean {
    if (this.#forbidsCalls) return false;
    const forced = this.#forcedFunction;
    return forced === null || forced === name || forced.endsWith(`__${name}`);
  }
}
