import type { IsModelAllowed } from "../generation/native/named-models.ts";
import type { PassthroughEndpoint } from "./endpoint-table.ts";

/** Follows a body that goes to the provider while the caller still sends it. */
export interface UploadObserver {
  /** The provider waits for the caller. */
  onWaitForCaller(): void;
  /** The provider can go on. */
  onReceived(): void;
  /** The caller's body broke off, was too slow or was invalid. Not every runtime tells the sender why its body failed. */
  onFailed(error: unknown): void;
}

/** A request to a pass-through endpoint, read as far as the gateway needs. */
export interface PassthroughCall {
  readonly endpoint: PassthroughEndpoint;
  /** The name as the caller wrote it; empty: none. */
  readonly model: string;
  /** Whether the body names further models that may not be used. Absent: it cannot. */
  namesOtherModels?(isAllowed: IsModelAllowed): boolean;
  readonly stream: boolean;
  /** The media type of the body. */
  readonly contentType: string;
  /** The texts that the model reads. */
  readonly promptText: string;
  /** The request as the history shows it. */
  readonly description: string;
  /** The body, if it is JSON. */
  readonly jsonText?: string;
  /** Whether the whole body is held, so that it can be sent several times. */
  readonly isHeld: boolean;
  /** Whether the body can be sent to another account or provider: it is held, or no part of it has been sent. */
  canReplay(): boolean;
  /** Creates the body with the provider's name for the model. */
  createBody(model: string, observer: UploadObserver): BodyInit;
}
