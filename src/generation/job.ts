import type { Caller } from "../auth/callers.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { Recording } from "../history/recording.ts";
import type { Context } from "../platform/context.ts";
import type { GenerationHooks } from "./hooks.ts";

/** A conversation that is to be answered. */
export interface GenerationRequest {
  readonly context: Context;
  readonly caller: Caller;
  readonly conversation: Conversation;
  /** Who takes part; everybody that `hooks.ts` lists, unless given. */
  readonly hooks?: GenerationHooks;
  /** What else lives as long as the generation does, of all that the request brought: it stays charged to the request. */
  readonly alsoHeld?: unknown;
}

/** One generation: a conversation on its way to the provider and back. */
export interface GenerationJob extends Required<Omit<GenerationRequest, "alsoHeld">> {
  /** Null for a generation that belongs to another one's record. */
  readonly recording: Recording | null;
  /** Aborted when the caller has gone, or when the generation must end. */
  readonly abort: AbortController;
}

/** What a renderer may need to know of the answer besides its events. */
export interface AnswerInfo {
  readonly conversation: Conversation;
  readonly requestId: string;
  /** Unix seconds. */
  readonly created: number;
  /** Estimated tokens of the prompt, for dialects that state them up front; computed when asked for. */
  promptTokens(): number;
}

/** The job of a further generation within one: it has no record of its own, and nobody is asked or told again. */
export function within(
  job: GenerationJob,
  changes: Pick<GenerationJob, "conversation" | "abort">,
): GenerationJob {
  return { ...job, ...changes, recording: null, hooks: { beforeSlot: [], onOutcome: [] } };
}
