import type { Awaitable } from "./awaitable.ts";

/** One exchange with the upstream, secrets masked. Times are Unix milliseconds. */
export interface Capture {
  readonly id: string;
  readonly at: number;
  readonly duration_ms: number;
  /** The request that it served. */
  readonly request_id: string;
  /** Id of the caller's key; empty for one without. */
  readonly key: string;
  /** What the rounds of one generation have in common: the upstream's chat session. Empty for other exchanges. */
  readonly chain_key: string;
  /** What was asked: `completion`, `continue`, `login`, … */
  readonly label: string;
  readonly method: string;
  readonly url: string;
  /** HTTP status of the answer; 0: there was none. */
  readonly status: number;
  /** Whether the answer was read as far as it was wanted, was given up, or broke off. */
  readonly outcome: "complete" | "cancelled" | "error";
  readonly error: string;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string;
  readonly response_headers: Readonly<Record<string, string>>;
  readonly response_body: string;
  /** Bytes that the answer had, kept or not. */
  readonly response_bytes: number;
  /** Whether bodies were cut at the limit. */
  readonly truncated: boolean;
}

/** A capture as lists show it: bodies are cut to their beginning. */
export interface CaptureSummary extends Omit<Capture, "request_body" | "response_body"> {
  readonly request_preview: string;
  readonly response_preview: string;
}

/** The rounds of one generation (contract, `GET /admin/dev/raw-samples/query`). */
export interface CaptureChain {
  readonly chain_key: string;
  /** Oldest first. */
  readonly capture_ids: readonly string[];
  readonly round_count: number;
  readonly initial_label: string;
  readonly request_preview: string;
  readonly response_preview: string;
}

/** What a saved sample says about itself. */
export interface SampleMeta {
  readonly sample_id: string;
  readonly saved_at: number;
  /** The driver whose decoder reads the stream. */
  readonly provider: string;
  readonly chain_key: string;
  /** The upstream's answers in order; `length` counts characters of the sample's upstream text. */
  readonly rounds: readonly SampleRound[];
}

/** One upstream answer within a sample. */
export interface SampleRound {
  readonly capture_id: string;
  readonly label: string;
  readonly status: number;
  readonly content_type: string;
  readonly outcome: Capture["outcome"];
  readonly request_body: string;
  readonly length: number;
}

/** A raw upstream stream that was kept on purpose. */
export interface Sample {
  readonly meta: SampleMeta;
  /** The upstream's answers, one after the other. */
  readonly upstream: string;
}

/** Which captures become a sample. */
export type SampleSelector =
  | { readonly chainKey: string }
  | { readonly captureIds: readonly string[] }
  /** These themselves, oldest first: it does not matter whether they are kept, or were cleared. */
  | { readonly captures: readonly Capture[] }
  /** The newest chain that contains the text. */
  | { readonly query: string };

/** Captures of upstream exchanges, and samples saved from them. */
export interface CaptureArchive {
  /** Newest first. */
  listCaptures(): Awaitable<readonly CaptureSummary[]>;
  readCapture(id: string): Awaitable<Capture | null>;
  /** Removes all captures, and those to come of exchanges that began before. Returns how many captures there were. */
  clearCaptures(): Awaitable<number>;
  /** Newest first; only those with the text `q` in them. */
  chains(q: string, limit: number): Awaitable<readonly CaptureChain[]>;
  /** Keeps captures as a sample; null when the selector finds none. A sample of the same id is replaced. */
  saveSample(selector: SampleSelector, sampleId: string, provider: string): Awaitable<SampleMeta | null>;
  /** Newest first. */
  listSamples(): Awaitable<readonly SampleMeta[]>;
  readSample(sampleId: string): Awaitable<Sample | null>;
  /** False when there is no such sample. */
  deleteSample(sampleId: string): Awaitable<boolean>;
}
