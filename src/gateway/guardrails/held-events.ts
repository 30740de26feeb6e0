import type { GenerationEvent } from "../../core/conversation/events.ts";

/** An event with text of one kind. */
export type TextEvent = Extract<GenerationEvent, { readonly text: string }>;

export const isTextEvent = (event: GenerationEvent): event is TextEvent => "text" in event;

/** How many characters of the answer an event has. */
export function lengthOf(event: GenerationEvent): number {
  if (isTextEvent(event)) return event.text.length;
  if (event.type === "tool-arguments") return event.delta.length;
  return event.type === "tool-call" ? event.id.length + event.name.length : 0;
}

/** Events that a stream holds back, in order. A position is the number of characters of the events before it. */
export class HeldEvents {
  #events: GenerationEvent[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(event: GenerationEvent): void {
    this.#events.push(event);
    this.#length += lengthOf(event);
  }

  /** The joined text of each kind, and how much of it is before a position. */
  joinTexts(position: number): Map<TextEvent["type"], { text: string; before: number }> {
    const texts = new Map<TextEvent["type"], { text: string; before: number }>();
    let start = 0;
    for (const event of this.#events) {
      const length = lengthOf(event);
      if (isTextEvent(event)) {
        const joined = texts.get(event.type) ?? { text: "", before: 0 };
        joined.text += event.text;
        joined.before += Math.max(0, Math.min(length, position - start));
        texts.set(event.type, joined);
      }
      start += length;
    }
    return texts;
  }

  /** The position of a character in the joined text of a kind. */
  findPosition(kind: TextEvent["type"], offset: number): number {
    let start = 0;
    let left = offset;
    for (const event of this.#events) {
      const length = lengthOf(event);
      if (event.type === kind) {
        if (left < length) return start + left;
        left -= length;
      }
      start += length;
    }
    return start;
  }

  /** The end of the last event that ends at or before a position; 0: none does. */
  findEventEnd(position: number): number {
    let end = 0;
    for (const event of this.#events) {
      const length = lengthOf(event);
      if (end + length > position) break;
      end += length;
    }
    return end;
  }

  /** The text of the first event. */
  get firstText(): string {
    const [first] = this.#events;
    return first !== undefined && isTextEvent(first) ? first.text : "";
  }

  /**
   * Takes the events up to a position, and those after it that no text precedes. A text is split at the position; its parts
   * have the text alone.
   */
  take(position: number): GenerationEvent[] {
    let left = position;
    let count = 0;
    let split: TextEvent | undefined;
    for (const event of this.#events) {
      const length = lengthOf(event);
      if (isTextEvent(event) && length > left) {
        if (left > 0) split = event;
        break;
      }
      left = Math.max(0, left - length);
      count++;
    }
    const taken = this.#events.splice(0, count);
    if (split !== undefined) {
      const { type, text } = split;
      taken.push({ type, text: text.slice(0, left) });
      this.#events[0] = { type, text: text.slice(left) };
    }
    for (const event of taken) this.#length -= lengthOf(event);
    return taken;
  }
}
