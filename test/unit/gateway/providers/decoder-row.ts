import type fc from "fast-check";
import type { ProviderErrorKind } from "../../../../src/core/errors/provider-error.ts";
import type {
  ProviderEvent,
  ProviderFinish,
  ProviderUsage,
} from "../../../../src/gateway/providers/answers/provider-events.ts";
import type { DecoderFactory } from "./support.ts";

/** A stream, and what a decoder must read from it. */
type Case<Expected> = readonly [what: string, stream: string, expected: Expected];

/** How the backend of one driver writes answers: the wire data for `decoders.test.ts`. */
export interface DecoderRow {
  readonly name: string;
  readonly createDecoder: DecoderFactory;

  /** A stream with one text, which has not ended. */
  says(text: string): string;
  /** The regular end of a stream. Its last `}` completes the answer. */
  readonly end: string;
  /** An error event that blames the request. */
  fails(message: string): string;

  /** A complete answer with reasoning, text, calls and counts, as far as the protocol has them. */
  readonly mixed: { readonly stream: string; readonly events: readonly ProviderEvent[] };
  /** The least that a compatible server sends: without ids, counts, names. */
  readonly bare: { readonly stream: string; readonly events: readonly ProviderEvent[] };
  /** The reasons for the end that the protocol knows. `whole` is the same answer in one piece; null: there is none. */
  readonly ends: readonly {
    readonly said: unknown;
    readonly stream: string;
    readonly whole: object | null;
    readonly reason: ProviderFinish;
  }[];
  /** Errors within a stream. `whole` is the same error in place of an answer in one piece; null: there is none. */
  readonly failures: readonly {
    readonly what: string;
    readonly event: string;
    readonly whole: object | null;
    readonly kind: ProviderErrorKind;
  }[];
  /** Events that are broken. */
  readonly malformed: readonly (readonly [what: string, event: string])[];
  readonly counts: readonly Case<ProviderUsage>[];
  /** Counts in a stream that has not ended. Null: the protocol states them only at the end. */
  readonly earlyCounts: Case<ProviderUsage> | null;
  /** Null: the backend has no tool calls of its own, or they do not come in pieces of JSON. */
  readonly calls: CallStream | null;
  /** Null: the protocol has no log probabilities. */
  readonly logprobs: Case<readonly ProviderEvent[]> | null;
  /** The citations of streamed texts. */
  readonly citations: readonly Case<readonly ProviderEvent[]>[];
  /** The reasoning that goes back to the backend with the result of a call, by the id of the call. */
  readonly remembered: readonly Case<Record<string, unknown>>[];
  /** Null: the protocol has only streams. */
  readonly whole: WholeAnswers | null;
  /** Streams that no backend should send. */
  readonly fuzzed: fc.Arbitrary<string | Uint8Array>;
}

/** How the calls `c0`, `c1` … of the tool `f` are streamed. */
interface CallStream {
  /** The events before the first call. */
  readonly begin: string;
  opens(index: number): string;
  adds(index: number, json: string): string;
  /** The end of a call with these arguments; empty if the protocol has none. */
  closes(index: number, json: string): string;
  /** The end of an answer that has all its calls. */
  readonly complete: string;
  /** The ends of an answer that was cut off or withheld, by their reason. */
  readonly cut: readonly (readonly [reason: string, end: string])[];
}

/** The answers that come in one piece. */
interface WholeAnswers {
  readonly createDecoder: DecoderFactory;
  /** The answer `mixed`. */
  readonly mixed: string;
  /** Answers that have not ended. */
  readonly unfinished: readonly object[];
  /** A complete answer with content that is no object. */
  readonly strange: object;
}
