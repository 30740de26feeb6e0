import type { Awaitable } from "./awaitable.ts";

/** One request to the upstream and its response, with secrets masked. Times are Unix milliseconds. */
export interface Capture {
  readonly id: string;
  readonly at: number;
  readonly duration_ms: number;
  /** The id of the caller's request. */
  readonly request_id: string;
  /** Id of the caller's key; empty for a caller without one. */
  readonly key: string;
  /** Groups the exchanges of one generation: the upstream's chat session. Empty for other exchanges. */
  readonly chain_key: string;
  /** The purpose of the exchange: `completion`, `continue`, `login`, … */
  readonly label: string;
  readonly method: string;
  readonly url: string;
  /** HTTP status of the response; 0 if there was none. */
  readonly status: number;
  /** Whether the response was read to the end that was needed, was cancelled, or broke off. */
  readonly outcome: "complete" | "cancelled" | "error";
  readonly error: string;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string;
  readonly response_headers: Readonly<Record<string, string>>;
  readonly response_body: string;
  /** Size of the response in bytes, stored or not. */
  readonly response_bytes: number;
  /** True if a body was truncated at the limit. */
  readonly truncated: boolean;
}

/** A capture for lists: only the beginning of each body. */
export interface CaptureSummary extends Omit<Capture, "request_body" | "response_body"> {
  readonly request_preview: string;
  readonly response_preview: string;
}

/** The exchanges of one generation (docs/contract/admin-history.md). */
export interface CaptureChain {
  readonly chain_key: string;
  /** Oldest first. */
  readonly capture_ids: readonly string[];
  readonly round_count: number;
  readonly initial_label: string;
  readonly request_preview: string;
  readonly response_preview: string;
}

/** Metadata of a saved sample. */
export interface SampleMeta {
  readonly sample_id: string;
  readonly saved_at: number;
  /** The driver whose decoder reads the stream. */
  readonly provider: string;
  readonly chain_key: string;
  /** The upstream's responses in order; `length` counts characters of the sample's upstream text. */
  readonly rounds: readonly SampleRound[];
}

/** One upstream answer within a sample. */
export interface SampleRound {
  readonly capture_id: string;
  /** Id of the caller's key. Absent in samples of older versions. */
  readonly key?: string | undefined;
  readonly label: string;
  readonly status: number;
  readonly content_type: string;
  readonly outcome: Capture["outcome"];
  readonly request_body: string;
  readonly length: number;
}

/** A raw upstream stream that an administrator saved. */
export interface Sample {
  readonly meta: SampleMeta;
  /** The upstream's responses, concatenated. */
  readonly upstream: string;
}

/** Selects the captures of a sample. */
export type SampleSelector =
  | { readonly chainKey: string }
  | { readonly captureIds: readonly string[] }
  /** These captures themselves, oldest first, even if the archive no longer has them. */
  | { readonly captures: readonly Capture[] }
  /** The newest chain that contains the text. */
  | { readonly query: string };

/** Captures of upstream exchanges, and samples saved from them. */
export interface CaptureArchive {
  /** Newest first. */
  listCaptures(): Awaitable<readonly CaptureSummary[]>;
  readCapture(id: string): Awaitable<Capture | null>;
  /**
   * Deletes all captures. Also drops later writes of exchanges that began before the deletion. Returns the number of
   * deleted captures.
   */
  clearCaptures(): Awaitable<number>;
  /** Newest first; only chains that contain the text `q`. */
  listChains(q: string, limit: number): Awaitable<readonly CaptureChain[]>;
  /** Saves captures as a sample; null if the selector matches none. Replaces a sample with the same id. */
  saveSample(selector: SampleSelector, sampleId: string, provider: string): Awaitable<SampleMeta | null>;
  /** Newest first. */
  listSamples(): Awaitable<readonly SampleMeta[]>;
  readSample(sampleId: string): Awaitable<Sample | null>;
  /** Returns false if the sample does not exist. */
  deleteSample(sampleId: string): Awaitable<boolean>;
}
