import type { Message } from "../conversation/conversation.ts";

/** A stored response: the object that `GET /v1/responses/{id}` returns, and what a later turn continues from. */
export interface StoredResponse {
  readonly id: string;
  /** The response object, as JSON text. */
  readonly body: string;
  /** The whole conversation up to and including this answer, for `previous_response_id`. */
  readonly messages: readonly Message[];
  /**
   * What the answer was made from, as the items of `GET …/input_items`, oldest first: a JSON array. Missing in what
   * older versions stored.
   */
  readonly input?: string;
  /** The generation failed: the response can be read, and not be continued. */
  readonly failed?: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The stored responses of one caller. What has expired is not returned. */
export interface ResponseStore {
  get(id: string): Promise<StoredResponse | null>;
  put(response: StoredResponse): Promise<void>;
  /** Forgets a response; false when there was none. */
  remove(id: string): Promise<boolean>;
}

/** The latest responses of one connection, which it can continue also when they are not stored. */
export interface ConnectionResponses {
  get(id: string): StoredResponse | null;
  put(response: StoredResponse): void;
}
