/** How many characters one expression checks without a break: some 10 to 50 ms of computing. */
export const BREAK_CHARS = 64 * 1024;
/** The fixed cost of checking a text, in characters. */
const TEXT_OVERHEAD = 20;

/** Lets the event loop serve other requests after each part of a long computation. */
export class Breaks {
  #characters = 0;

  /** Takes a break if enough characters were checked since the last one. */
  async after(characters: number): Promise<void> {
    this.#characters += characters + TEXT_OVERHEAD;
    if (this.#characters < BREAK_CHARS) return;
    this.#characters = 0;
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
  }
}
