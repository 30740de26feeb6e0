import type { Caller } from "../../core/auth/callers.ts";
import type { Conversation } from "../../core/conversation/conversation.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import type { GenerationOutcome } from "../../core/conversation/outcome.ts";
import { type GatewayError, toGatewayError } from "../../core/errors/gateway-error.ts";
import { explainAbort } from "../../core/http/client-disconnect.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import type { Guard } from "../guardrails/guard.ts";
import type { Recording } from "../history/recording.ts";
import type { NativeJob } from "./native/native-style.ts";
import type { ConversationTurn } from "./preparation/conversation-key.ts";
import type { RequestDeadline } from "./request-deadline.ts";
import type { StickyRoute } from "./routes/route-affinity.ts";

/** A conversation that a caller wants to have answered. */
export interface GenerationRequest {
  readonly context: Context;
  readonly caller: Caller;
  readonly conversation: Conversation;
  /** Other parts of the request that live as long as the generation. Their memory stays charged to the request. */
  readonly retainedData?: unknown;
  /** Called once when the outcome is known, before the answer ends. It must not throw. */
  readonly onOutcome?: (outcome: GenerationOutcome) => void;
  /** The request in its own protocol, for providers that speak it. */
  readonly native?: NativeJob | undefined;
}

/** One generation: a conversation with everything needed to answer it. */
export interface GenerationJob
  extends Required<Omit<GenerationRequest, "retainedData" | "native" | "onOutcome">> {
  /** Null for a generation within another one, which has the record. */
  readonly recording: Recording | null;
  /** Decides on the retries of the request, and lists its attempts. */
  readonly retries: RetryBudget;
  /** Aborted when the caller has left, or when the generation must end. */
  readonly abort: AbortController;
  /** Aborts the request when the caller's time is over. Absent: the caller sets none. */
  readonly deadline?: RequestDeadline;
  /** Whether a file that the conversation refers to by id is an image. */
  readonly hasImageFiles: boolean;
  /** The request in its own protocol, for providers that speak it. */
  readonly native?: NativeJob;
  readonly onOutcome?: (outcome: GenerationOutcome) => void;
  /** The turn of the conversation, for session affinity. */
  readonly turn?: ConversationTurn;
  /** The fallback models, in order. The caller is allowed to use all of them. */
  readonly fallbackModels: readonly ResolvedModel[];
  /** The targets and the key for session affinity. Absent: there is only one model. */
  readonly stickyRoute?: StickyRoute;
  /** Checks the answer. Absent: there are no guardrails. */
  readonly guard?: Guard;
  /** Whether to fail at once instead of waiting for a free account, because other models remain. */
  readonly failFast?: boolean;
}

/** Facts about the answer that a renderer needs besides its events. */
export interface AnswerInfo {
  readonly conversation: Conversation;
  readonly requestId: string;
  /** Unix seconds. */
  readonly created: number;
  /** Estimates the prompt's tokens, for dialects that state them up front. */
  promptTokens(): number;
}

/** Converts what was thrown to the error for the caller of a job. */
export function explainFailure({ abort, context }: GenerationJob, thrown: unknown): GatewayError {
  return toGatewayError(explainAbort(abort, thrown), context.requestId);
}

/** A job for another generation within the same request: without a record or fallback models. */
export function createNestedJob(
  job: GenerationJob,
  changes: Pick<GenerationJob, "conversation" | "abort">,
): GenerationJob {
  const { native: _, ...translatedJob } = job;
  return { ...translatedJob, ...changes, recording: null, fallbackModels: [], failFast: false };
}
