import type { ToolDefinition } from "../conversation/tool.ts";
import { Automaton } from "./automaton.ts";
import { Catalogue } from "./call.ts";
import type { ScanEvent } from "./events.ts";
import { Input } from "./input.ts";
import { Output } from "./output.ts";

export type { ScanEvent } from "./events.ts";

export interface ToolScannerOptions {
  /** The request's tools. Without any there are no calls, and all text passes. */
  tools: readonly ToolDefinition[];
  /** Index of the first call. Default 0. */
  firstIndex?: number;
  /**
   * One whole response is at hand: everything comes at `finish`, and a complete wrapper with a malformed invoke is text as
   * a whole, where a stream could not take back a call that it has announced.
   */
  whole?: boolean;
}

/**
 * Finds tool calls in the text of a model (contract, Tool calling rules). Feed it the text in any pieces and call `finish`
 * once at the end; the same text gives the same calls and the same text however it is cut. It never throws.
 *
 * Reasoning is scanned by a scanner of its own: its text events are the reasoning to show, free of call markup, and its
 * calls count if the visible text is empty (rule 9). Give it `firstIndex` when calls of both are sent in one response.
 */
export class ToolScanner {
  readonly #input = new Input();
  readonly #output: Output;
  readonly #automaton: Automaton | undefined;
  readonly #whole: boolean;
  #pieces: string[] = [];
  #failed = false;

  constructor(options: ToolScannerOptions) {
    const catalogue = new Catalogue(options.tools);
    this.#whole = options.whole ?? false;
    this.#output = new Output(options.firstIndex ?? 0);
    if (catalogue.size > 0) {
      this.#automaton = new Automaton(this.#input, this.#output, catalogue, this.#whole);
    }
  }

  /** Takes the next piece of text; returns what is certain by now. */
  push(text: string): ScanEvent[] {
    if (text === "") return [];
    if (this.#whole && this.#automaton && !this.#failed) {
      this.#pieces.push(text);
      return [];
    }
    return this.#read(text, false);
  }

  /**
   * No more text follows; returns all that was held back. A call whose parameter is still open has no end among the events:
   * half of it must not be taken for a whole one.
   * @param cut The text did not end by itself. Then a call without its end tag is open too, however complete it looks.
   */
  finish(cut = false): ScanEvent[] {
    this.#input.cut = cut;
    const rest = this.#pieces.join("");
    this.#pieces = [];
    return this.#read(rest, true);
  }

  #read(text: string, final: boolean): ScanEvent[] {
    const automaton = this.#automaton;
    if (!automaton || this.#failed) {
      this.#output.text(text);
      return this.#output.take(final);
    }
    try {
      this.#input.append(text);
      this.#input.final = final;
      automaton.run();
    } catch {
      // Never expected; the answer is worth more than the calls in it, so that from here on text just passes.
      this.#failed = true;
      automaton.abandon();
      this.#output.text(this.#input.release() + this.#input.text.slice(this.#input.at));
    }
    return this.#output.take(final);
  }
}
