import type { ProviderError } from "../../../core/errors/provider-error.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import type { ProviderEvent } from "./provider-events.ts";

/**
 * Turns an upstream's bytes into events. Any split of the bytes yields the same events.
 * `push` and `finish` throw a `ProviderError`: `malformed` for invalid data, the upstream's own error for an error
 * event, and `cut` if `finish` is called before the upstream has ended the turn.
 */
export interface TurnDecoder {
  /** The upstream has sent the whole turn. Readers do not need to wait for further bytes. */
  readonly ended?: boolean;
  /**
   * A failure that occurred in the same read as the events which `push` just returned. The next call throws it; read
   * this member to learn of it without waiting for more bytes. Null: none.
   */
  readonly failure?: ProviderError | null;
  /** How many events had content. Until the first one, another account may still answer. */
  readonly contentEvents?: number;
  push(bytes: Uint8Array): readonly ProviderEvent[];
  finish(): readonly ProviderEvent[];
}

/** The answer to a native request: its bytes go to the caller as they are. */
export interface NativeAnswer {
  /** The headers of the provider's response. */
  readonly headers: Headers;
}

interface OpenedTurn {
  readonly native?: NativeAnswer;
  /** The members of the request that were left out: the provider refuses them, or never gets them. Absent: none. */
  readonly dropped?: readonly string[];
  readonly sessionId: string;
}

/** An upstream turn whose streamed answer has begun to arrive. */
export interface StreamedTurn extends OpenedTurn {
  readonly body: ReadableStream<Uint8Array>;
  readonly decoder: TurnDecoder;
}

/** An upstream turn whose answer comes in one piece. */
export interface WholeTurn extends OpenedTurn {
  /**
   * Reads the answer and returns the same events as a stream would. Throws the same errors as a {@link TurnDecoder},
   * and rejects with the reason of the signal that opened the turn.
   */
  read(): Promise<readonly ProviderEvent[]>;
  /** The text of the answer. Empty before it was read. */
  readonly text?: () => string;
}

/** An upstream turn. A backend may answer with or without a stream, regardless of the request. */
export type UpstreamTurn = StreamedTurn | WholeTurn;

/** A follow-up turn: the original prompt plus `suffix`. Its parent is the message that had no visible content. */
export interface FollowUp {
  readonly sessionId: string;
  readonly parentMessageId: string;
  readonly suffix: string;
}

/** A request rendered for the provider, before an account is selected. */
export interface PreparedTurn {
  /** Everything that the model will read, as one text. Token estimates use it. */
  readonly promptText: string;
  /**
   * Fetches attachments behind URLs in advance, so that no account waits for a caller's server. `open` fetches the
   * rest. Throws a `GatewayError` 400 for an attachment that cannot be fetched or that the model does not support.
   */
  load?(signal: AbortSignal): Promise<void>;
  /** The answer was requested in one piece: the provider sends nothing until the answer is complete. */
  readonly whole?: boolean;
  /**
   * Opens the turn. Throws a `ProviderError` if the provider refuses it or cannot be reached.
   * `inSession` receives a promise of each session id before the session exists, so that the session can be deleted
   * even if the turn fails or is aborted. The promise rejects if no session is created.
   */
  open(
    account: UpstreamAccount,
    signal: AbortSignal,
    followUp: FollowUp | null,
    inSession?: (session: Promise<string>) => void,
  ): Promise<UpstreamTurn>;
}
