import type { PassthroughEndpoint } from "./endpoint-table.ts";

/** A request to a pass-through endpoint, read as far as the gateway needs. */
export interface PassthroughCall {
  readonly endpoint: PassthroughEndpoint;
  /** The name as the caller wrote it; empty: none. */
  readonly model: string;
  readonly stream: boolean;
  /** The media type of the body. */
  readonly contentType: string;
  /** The texts that the model reads. */
  readonly promptText: string;
  /** The request as the history shows it. */
  readonly description: string;
  /** Whether the body can be sent to another account or provider. */
  canReplay(): boolean;
  /** Creates the body with the provider's name for the model. */
  createBody(model: string): BodyInit;
}
