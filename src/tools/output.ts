import type { ScanEvent } from "./events.ts";

/** Collects events: joins adjacent events of one type, numbers calls, and can discard speculative events. */
export class Output {
  #events: ScanEvent[] = [];
  #guess: { events: ScanEvent[]; next: number } | undefined;
  #next: number;
  /** The first half of a surrogate pair whose second half has not arrived. */
  #half = "";

  constructor(firstIndex: number) {
    this.#next = firstIndex;
  }

  text(text: string): void {
    if (text === "") return;
    let whole = this.#half === "" ? text : this.#half + text;
    this.#half = "";
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = whole.slice(-1);
      whole = whole.slice(0, -1);
    }
    this.#addText(whole);
  }

  /** Announces a call and returns its index. */
  call(name: string): number {
    this.#flushHalf();
    const index = this.#next++;
    this.#target().push({ type: "tool-call", index, name });
    return index;
  }

  fragment(index: number, delta: string): void {
    if (delta === "") return;
    const target = this.#target();
    const last = target.at(-1);
    if (last?.type === "tool-arguments" && last.index === index) last.delta += delta;
    else target.push({ type: "tool-arguments", index, delta });
  }

  end(index: number): void {
    this.#target().push({ type: "tool-call-end", index });
  }

  /** Starts a speculative part: its events count only after `keepSpeculation`; `dropSpeculation` discards them. */
  guess(): void {
    this.#flushHalf();
    this.#guess = { events: [], next: this.#next };
  }

  keep(): void {
    const guess = this.#guess;
    this.#guess = undefined;
    if (guess) this.#events.push(...guess.events);
  }

  drop(): void {
    if (this.#guess) this.#next = this.#guess.next;
    this.#guess = undefined;
  }

  /** A position for `restorePosition`; valid until `takeEvents`. */
  save(): { length: number; next: number } {
    this.#flushHalf();
    return { length: this.#events.length, next: this.#next };
  }

  restore(saved: { length: number; next: number }): void {
    this.#events.length = saved.length;
    this.#next = saved.next;
  }

  /** Returns and removes all events that are certain. */
  take(final: boolean): ScanEvent[] {
    if (final) this.#flushHalf();
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #target(): ScanEvent[] {
    return this.#guess ? this.#guess.events : this.#events;
  }

  #addText(text: string): void {
    if (text === "") return;
    const target = this.#target();
    const last = target.at(-1);
    if (last?.type === "text") last.text += text;
    else target.push({ type: "text", text });
  }

  #flushHalf(): void {
    const half = this.#half;
    this.#half = "";
    this.#addText(half);
  }
}
