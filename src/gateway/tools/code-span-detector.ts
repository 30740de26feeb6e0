import type { InputBuffer } from "./input-buffer.ts";
import type { MarkdownTracker } from "./markdown-tracker.ts";
import { BACKTICK } from "./units.ts";

/**
 * Decides whether a position after unpaired backticks is inline code: it is if a run of the same length follows within the
 * paragraph. It reads more input until that is certain.
 */
export class CodeSpanDetector {
  readonly #openRuns: number;
  readonly #blocks: number;
  /** The Markdown state after the text read, valid if it is code. */
  readonly markdown: MarkdownTracker;

  constructor(markdown: MarkdownTracker) {
    this.#openRuns = markdown.openRunCount;
    this.#blocks = markdown.endedBlocks;
    this.markdown = markdown.clone();
  }

  read(input: InputBuffer): "open" | "code" | "plain" {
    const { markdown } = this;
    for (;;) {
      const unit = input.isConsumed ? undefined : input.text.charCodeAt(input.at);
      if (unit === undefined && !input.isFinal) return "open";
      if (unit !== BACKTICK) markdown.endRun();
      if (markdown.endedBlocks !== this.#blocks) return "plain";
      if (markdown.openRunCount < this.#openRuns) return "code";
      if (unit === undefined) return "plain";
      markdown.step(unit);
      input.at++;
    }
  }
}
