import type { ToolDefinition } from "../../core/conversation/tool.ts";
import { ToolSchemas } from "./call-writer.ts";
import { EventOutput } from "./event-output.ts";
import type { ScanEvent } from "./events.ts";
import { InputBuffer } from "./input-buffer.ts";
import { MarkupParser } from "./markup-parser.ts";

export type { ScanEvent } from "./events.ts";

export interface ToolScannerOptions {
  /** The request's tools. If there are none, there are no calls, and all text passes. */
  tools: readonly ToolDefinition[];
  /** Index of the first call. Default 0. */
  firstIndex?: number;
  /**
   * The complete response is available: all events come at `finish`, and a complete wrapper with a malformed invoke becomes
   * text as a whole. (A stream cannot take back a call that it has announced.)
   */
  whole?: boolean;
}

/**
 * Finds tool calls in a model's text (docs/contract.md, Tool calling rules). Pass it the text in pieces and call
 * `finish` once at the end. The same text gives the same calls and the same remaining text, however it is split. It
 * never throws.
 *
 * Reasoning has its own scanner: its text events are the reasoning to show, without call markup, and its calls count if the
 * visible text is empty (rule 9). Give it `firstIndex` when calls of both are sent in one response.
 */
export class ToolScanner {
  readonly #input = new InputBuffer();
  readonly #output: EventOutput;
  readonly #parser: MarkupParser | undefined;
  readonly #isWhole: boolean;
  #pieces: string[] = [];
  #failed = false;

  constructor(options: ToolScannerOptions) {
    const schemas = new ToolSchemas(options.tools);
    this.#isWhole = options.whole ?? false;
    this.#output = new EventOutput(options.firstIndex ?? 0);
    if (schemas.size > 0) {
      this.#parser = new MarkupParser(this.#input, this.#output, schemas, this.#isWhole);
    }
  }

  /** Takes the next piece of text. Returns the events that are certain. */
  push(text: string): ScanEvent[] {
    if (text === "") return [];
    if (this.#isWhole && this.#parser && !this.#failed) {
      this.#pieces.push(text);
      return [];
    }
    return this.#read(text, false);
  }

  /**
   * Ends the text. Returns all remaining events. A call whose parameter is incomplete gets no end event, so that
   * it is not treated as complete.
   * @param isCut Whether the text was cut off. Then a call without its end tag is incomplete too, even if all its parameters
   *   are complete.
   */
  finish(isCut = false): ScanEvent[] {
    this.#input.isCut = isCut;
    const rest = this.#pieces.join("");
    this.#pieces = [];
    return this.#read(rest, true);
  }

  #read(text: string, final: boolean): ScanEvent[] {
    const parser = this.#parser;
    if (!parser || this.#failed) {
      this.#output.addText(text);
      return this.#output.takeEvents(final);
    }
    try {
      this.#input.append(text);
      this.#input.isFinal = final;
      parser.run();
    } catch {
      // Not expected. The answer matters more than its calls, so from here on all text just passes.
      this.#failed = true;
      parser.abandon();
      this.#output.addText(this.#input.endRecording() + this.#input.text.slice(this.#input.at));
    }
    return this.#output.takeEvents(final);
  }
}
