import type { Usage } from "./events.ts";

/** The outcome of a generation. */
export interface GenerationOutcome {
  readonly status: "success" | "error" | "cancelled";
  /** The HTTP status that the caller got, or would have got. */
  readonly statusCode: number;
  /** Human-readable message; empty on success. */
  readonly error: string;
  /** The error's code; empty on success. */
  readonly code: string;
  /** Why the answer ended; empty when it did not end normally. */
  readonly finishReason: string;
  /** The usage, also of a failed or cancelled generation. Null: the provider had not begun to answer. */
  readonly usage: Usage | null;
}

/** The upstream's output so far, before translation or trimming. */
export interface RawOutput {
  readonly rawText: string;
  readonly rawReasoning: string;
  /** Names of the functions that it calls, each once. Absent: unknown. */
  readonly calledFunctions?: readonly string[];
}

/** The output of a generation that has none, or none of its own. */
export const EMPTY_OUTPUT: RawOutput = { rawText: "", rawReasoning: "" };
