import type { Caller } from "../../core/auth/callers.ts";
import type { Conversation } from "../../core/conversation/conversation.ts";
import type { Context } from "../../core/ports/context.ts";

/** A conversation to answer, with its caller and context. */
export interface GenerationInput {
  readonly context: Context;
  readonly caller: Caller;
  readonly conversation: Conversation;
  /** Other parts of the request that live as long as the generation. Their memory stays charged to the request. */
  readonly retainedData?: unknown;
}
