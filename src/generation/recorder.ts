import type { Conversation } from "../conversation/conversation.ts";
import type { Usage } from "../conversation/events.ts";

/** How a generation went, for the history. */
export interface GenerationOutcome {
  readonly status: "success" | "error" | "cancelled";
  /** The HTTP status that the caller got, or would have got. */
  readonly statusCode: number;
  readonly error: string;
  readonly finishReason: string;
  readonly usage: Usage | null;
}

/** The upstream's output so far, before translation or trimming. */
export interface RawOutput {
  readonly rawText: string;
  readonly rawReasoning: string;
}

/**
 * Archives one generation (contract, general rule 9). Never throws, never waits: a generation must be neither slowed
 * nor broken by its history.
 */
export interface GenerationRecorder {
  begin(conversation: Conversation, promptText: string, output: RawOutput): void;
  /** An account was leased; empty in pass-through mode. */
  account(identifier: string): void;
  /** The upstream said something. Called once for each read, with the present time (milliseconds since the epoch). */
  progress(now: number): void;
  end(outcome: GenerationOutcome): void;
}
