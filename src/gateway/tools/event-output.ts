import { SurrogateJoiner } from "../../core/encoding/surrogate-joiner.ts";
import type { ScanEvent } from "./events.ts";

/** Collects events: joins adjacent events of one type, numbers calls, and can discard speculative events. */
export class EventOutput {
  #events: ScanEvent[] = [];
  #speculation: { events: ScanEvent[]; next: number } | undefined;
  #next: number;
  /** Joins the pieces of the text. */
  readonly #pairs = new SurrogateJoiner();

  constructor(firstIndex: number) {
    this.#next = firstIndex;
  }

  addText(text: string): void {
    if (text !== "") this.#pushText(this.#pairs.push(text));
  }

  /** Announces a call and returns its index. */
  beginCall(name: string): number {
    this.#flushHalf();
    const index = this.#next++;
    this.#target().push({ type: "tool-call", index, name });
    return index;
  }

  addArguments(index: number, delta: string): void {
    if (delta === "") return;
    const target = this.#target();
    const last = target.at(-1);
    if (last?.type === "tool-arguments" && last.index === index) last.delta += delta;
    else target.push({ type: "tool-arguments", index, delta });
  }

  endCall(index: number): void {
    this.#target().push({ type: "tool-call-end", index });
  }

  /** Starts a speculative part: its events count only after `keepSpeculation`; `dropSpeculation` discards them. */
  startSpeculation(): void {
    this.#flushHalf();
    this.#speculation = { events: [], next: this.#next };
  }

  keepSpeculation(): void {
    const speculation = this.#speculation;
    this.#speculation = undefined;
    if (speculation) this.#events.push(...speculation.events);
  }

  dropSpeculation(): void {
    if (this.#speculation) this.#next = this.#speculation.next;
    this.#speculation = undefined;
  }

  /** A position for `restorePosition`; valid until `takeEvents`. */
  savePosition(): { length: number; next: number } {
    this.#flushHalf();
    return { length: this.#events.length, next: this.#next };
  }

  restorePosition(saved: { length: number; next: number }): void {
    this.#events.length = saved.length;
    this.#next = saved.next;
  }

  /** Returns and removes all events that are certain. */
  takeEvents(final: boolean): ScanEvent[] {
    if (final) this.#flushHalf();
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #target(): ScanEvent[] {
    return this.#speculation ? this.#speculation.events : this.#events;
  }

  #pushText(text: string): void {
    if (text === "") return;
    const target = this.#target();
    const last = target.at(-1);
    if (last?.type === "text") last.text += text;
    else target.push({ type: "text", text });
  }

  #flushHalf(): void {
    this.#pushText(this.#pairs.flush());
  }
}
