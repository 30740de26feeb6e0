import type { JsonObject } from "../../../core/encoding/json.ts";
import type { ProviderEvent } from "../answers/provider-events.ts";
import type { TurnDecoder } from "../answers/upstream-turn.ts";
import type { ErrorKinds } from "../errors/error-response.ts";
import type { NativeProtocol } from "../native/native-request.ts";
import type { OfferedModel, ProviderCapabilities } from "../provider.ts";
import type { FieldRule } from "../refused-fields/field-rules.ts";

/** The settings of a request apart from the conversation. */
export interface RequestSettings {
  /** The backend's name for the model. */
  readonly model: string;
  readonly toolCalls: "native" | "markup";
  /** Request the answer in one piece, because the caller does not stream. */
  readonly whole: boolean;
}

/** Reads the answer to one request. Both methods yield the same events. */
export interface AnswerReader {
  createStreamDecoder(): TurnDecoder;
  /** Throws the same errors as a decoder. */
  readWhole(answer: JsonObject): readonly ProviderEvent[];
}

/** Builds the requests of one conversation. */
export interface RequestWriter<Wire> {
  /** Everything that the model reads, as one text. */
  readonly promptText: string;
  /** Fetches attachments that are behind URLs. Throws a `GatewayError` 400 for an attachment that cannot be sent. */
  load(signal: AbortSignal): Promise<void>;
  /** Builds the request. `suffix` is the text of a follow-up turn (blank: none). */
  build(suffix: string, signal: AbortSignal): Promise<Wire>;
}

/** What distinguishes one protocol of keyed backends from another. */
export interface KeyedProtocol<Wire> {
  /** The base URL of all paths. */
  readonly address: string;
  /** The path of generation requests. */
  readonly path: string | ((request: { readonly model: string; readonly stream?: boolean }) => string);
  /** Builds the posted body. Default: the request itself. */
  readonly body?: (request: Wire) => unknown;
  /**
   * The path of the model list and how to read the answer. Default: `/models` and the `id` of each
   * entry in `data`.
   */
  readonly listing?: { readonly path: string; readonly read: (body: JsonObject) => readonly OfferedModel[] };
  /** Further headers of a generation request. */
  readonly requestHeaders?: (request: Wire) => Readonly<Record<string, string>>;
  /** How the protocol's error codes and statuses map to kinds of errors. */
  readonly kinds: ErrorKinds;
  /** Loads how requests change if the backend refuses a field, beyond the table of optional members. */
  readonly loadRewrites: () => Promise<readonly FieldRule<Wire>[]>;
  /** The generation options for which the protocol has fields. */
  readonly options: ProviderCapabilities["options"];
  /** Whether a non-streamed answer distinguishes a truncated tool call from a complete one. */
  readonly detectsTruncatedCalls: boolean;
  readonly native: NativeProtocol;
}
