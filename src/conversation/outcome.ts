import type { Usage } from "./events.ts";

/** How a generation went. */
export interface GenerationOutcome {
  readonly status: "success" | "error" | "cancelled";
  /** The HTTP status that the caller got, or would have got. */
  readonly statusCode: number;
  /** For people; empty on success. */
  readonly error: string;
  /** The error's code; empty on success. */
  readonly code: string;
  /** Why the answer ended; empty when it did not. */
  readonly finishReason: string;
  /** What was used, also by a generation that failed or was cancelled; null: the provider had not begun to answer. */
  readonly usage: Usage | null;
}

/** The upstream's output so far, before translation or trimming. */
export interface RawOutput {
  readonly rawText: string;
  readonly rawReasoning: string;
}
