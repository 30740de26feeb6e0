import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { PreparedTurn } from "../answers/upstream-turn.ts";

/** A request in the provider's own protocol. The body goes to the provider as the caller wrote it. */
export interface NativeRequest {
  /** The id of the API style, which is also the name of the protocol. */
  readonly dialect: string;
  /** The body: the text of a JSON object that names `model` and `stream` at most once. */
  readonly text: string;
  readonly stream: boolean;
  /** The caller's headers that belong to the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query that belongs to the protocol, without the question mark; empty: none. */
  readonly query: string;
}

/** Requests in the provider's own protocol, which need no translation. */
export interface NativePath {
  /** Whether an API style is the provider's protocol. */
  speaks(dialect: string): boolean;
  /**
   * Whether the provider can take the conversation as it is. False: its tools must be written into the prompt, or the
   * provider lacks the endpoint.
   */
  accepts(conversation: Conversation): boolean;
  /**
   * Prepares a request that is sent as the caller wrote it. `conversation` names the model.
   *
   * @param translate prepares the translated request, for a provider that turns out to lack the endpoint
   */
  prepare(request: NativeRequest, conversation: Conversation, translate: () => PreparedTurn): PreparedTurn;
}
