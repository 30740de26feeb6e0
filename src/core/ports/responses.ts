import type { Message } from "../conversation/conversation.ts";

/** A stored response: the object of `GET /v1/responses/{id}`, and the context of a later turn. */
export interface StoredResponse {
  readonly id: string;
  /** The response object, as JSON text. */
  readonly body: string;
  /** The whole conversation up to and including this answer, for `previous_response_id`. */
  readonly messages: readonly Message[];
  /**
   * The input items of the answer, as in `GET …/input_items`, oldest first: a JSON array. Absent in responses stored by
   * older versions.
   */
  readonly input?: string;
  /** True if the generation failed: the response can be read, but not continued. */
  readonly failed?: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The stored responses of one caller, without expired ones. */
export interface ResponseStore {
  get(id: string): Promise<StoredResponse | null>;
  put(response: StoredResponse): Promise<void>;
  /** Deletes a response; returns false if it does not exist. */
  remove(id: string): Promise<boolean>;
}

/** The latest responses of one connection. The connection can continue them even if they are not stored. */
export interface ConnectionResponses {
  get(id: string): StoredResponse | null;
  put(response: StoredResponse): void;
}
