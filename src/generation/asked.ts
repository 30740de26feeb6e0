import type { Caller } from "../auth/callers.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { Context } from "../platform/context.ts";

/** A conversation that a caller wants answered. */
export interface Asked {
  readonly context: Context;
  readonly caller: Caller;
  readonly conversation: Conversation;
  /** What else lives as long as the generation does, of all that the request brought: it stays charged to the request. */
  readonly alsoHeld?: unknown;
}
