import type { Input } from "./input.ts";
import type { Markdown } from "./markdown.ts";

const TICK = 0x60;

/**
 * Decides whether a position after unpaired backticks is inline code: it is if a run of the same length follows within the
 * paragraph. It reads more input until that is certain.
 */
export class SpanWatch {
  readonly #openRuns: number;
  readonly #blocks: number;
  /** The Markdown state after the text read, valid if it is code. */
  readonly markdown: Markdown;

  constructor(markdown: Markdown) {
    this.#openRuns = markdown.openRuns;
    this.#blocks = markdown.blocks;
    this.markdown = markdown.clone();
  }

  read(input: Input): "open" | "code" | "plain" {
    const { markdown } = this;
    for (;;) {
      const unit = input.done ? undefined : input.text.charCodeAt(input.at);
      if (unit === undefined && !input.final) return "open";
      if (unit !== TICK) markdown.endRun();
      if (markdown.blocks !== this.#blocks) return "plain";
      if (markdown.openRuns < this.#openRuns) return "code";
      if (unit === undefined) return "plain";
      markdown.step(unit);
      input.at++;
    }
  }
}
