import type { Message } from "../conversation/conversation.ts";

/** A stored response: the object that `GET /v1/responses/{id}` returns, and what a later turn continues from. */
export interface StoredResponse {
  readonly id: string;
  /** The response object, as JSON text. */
  readonly body: string;
  /** The whole conversation up to and including this answer, for `previous_response_id`. */
  readonly messages: readonly Message[];
  /** The generation failed: the response can be read, and not be continued. */
  readonly failed?: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The stored responses of one caller. What has expired is not returned. */
export interface ResponseStore {
  get(id: string): Promise<StoredResponse | null>;
  put(response: StoredResponse): Promise<void>;
}
