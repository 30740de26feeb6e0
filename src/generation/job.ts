import type { Conversation } from "../conversation/conversation.ts";
import type { ResolvedModel } from "../conversation/model.ts";
import type { Recording } from "../history/recording.ts";
import type { LightAbortController } from "../http/light-abort-controller.ts";
import type { Asked } from "./asked.ts";
import type { GenerationHooks } from "./hooks.ts";
import type { Stay } from "./route-memory.ts";

/** A conversation that is to be answered. */
export interface GenerationRequest extends Asked {
  /** Who takes part; everybody that `hooks.ts` lists, unless given. */
  readonly hooks?: GenerationHooks;
}

/** One generation: a conversation on its way to the provider and back. */
export interface GenerationJob extends Required<Omit<GenerationRequest, "alsoHeld">> {
  /** Null for a generation that belongs to another one's record. */
  readonly recording: Recording | null;
  /** Aborted when the caller has gone, or when the generation must end. */
  readonly abort: LightAbortController;
  /** Whether a file that the conversation refers to by id is an image. */
  readonly imageFiles: boolean;
  /** The name of a model that the caller asked for: a key may name it, also where it leads to several models. */
  readonly asked: string;
  /** The models that are asked if this one cannot answer, in order; all of them are the caller's to ask for. */
  readonly alternatives: readonly ResolvedModel[];
  /** Where the conversation may stay. Absent: there is one model alone. */
  readonly stay?: Stay;
  /** Nobody waits for an account while others may have one. */
  readonly hurries?: boolean;
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
  const alone = {
    recording: null,
    hooks: { beforeSlot: [], onOutcome: [] },
    alternatives: [],
    hurries: false,
  };
  return { ...job, ...changes, ...alone };
}
