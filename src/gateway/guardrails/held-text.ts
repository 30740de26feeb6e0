import type { GenerationEvent } from "../../core/conversation/events.ts";

/** An event with text of one kind. */
export type TextEvent = Extract<GenerationEvent, { readonly text: string }>;

/** Text of one kind that a stream holds back, with its events. */
export class HeldText {
  #events: TextEvent[] = [];
  #text = "";

  get text(): string {
    return this.#text;
  }

  /** Whether an event is of another kind than the held ones. */
  isOtherKind({ type }: GenerationEvent): boolean {
    const [first] = this.#events;
    return first !== undefined && first.type !== type;
  }

  push(event: TextEvent): void {
    this.#events.push(event);
    this.#text += event.text;
  }

  /** The end of the last event that ends at or before a position; 0: none does. */
  findEventEnd(position: number): number {
    let end = 0;
    for (const { text } of this.#events) {
      if (end + text.length > position) break;
      end += text.length;
    }
    return end;
  }

  /**
   * Takes the events up to a position. An event is split at the position; its parts have the text alone.
   *
   * @param masked the text that takes the place of the taken one
   */
  take(position: number, masked: string): TextEvent[] {
    const original = this.#text.slice(0, position);
    const taken: TextEvent[] = [];
    let left = position;
    while (left > 0 || this.#events[0]?.text === "") {
      const event = this.#events.shift();
      if (event === undefined) break;
      if (event.text.length <= left) {
        taken.push(event);
        left -= event.text.length;
        continue;
      }
      const { type, text } = event;
      taken.push({ type, text: text.slice(0, left) });
      this.#events.unshift({ type, text: text.slice(left) });
      break;
    }
    this.#text = this.#text.slice(position);
    const [first] = taken;
    if (masked === original || first === undefined) return taken;
    return masked === "" ? [] : [{ type: first.type, text: masked }];
  }
}
