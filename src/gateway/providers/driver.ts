import type { SelectionStrategy } from "../../core/config/selection-strategy.ts";
import type { TurnDecoder } from "./answers/upstream-turn.ts";
import type { Provider } from "./provider.ts";

/** The settings of one provider, passed to its driver. */
export interface ProviderOptions {
  /** The base URL. Each driver defines which path prefix belongs to it. A trailing slash does not matter. */
  readonly baseUrl: string;
  /** The API key for accounts that have no key of their own. */
  readonly token: string;
  /** The header that carries the API key. Absent or empty: the protocol's own. */
  readonly keyHeader?: string;
  /** Canonical model id → the backend's name. Ids without an entry are sent unchanged. */
  readonly models: Readonly<Record<string, string>>;
  /** Whether tools are sent natively or written into the prompt. Protocols without this choice ignore it. */
  readonly toolCalls: "native" | "markup";
  /** False: requests in the provider's own protocol are translated, too. */
  readonly native?: boolean;
  /** Members of requests that the provider never gets, written with dots if they stand deeper. */
  readonly dropParams?: readonly string[];
  /** Whether to request a non-streamed answer when the caller does not stream. Protocols without this choice ignore it. */
  readonly wholeAnswers: boolean;
  /** Generates unique ids. */
  readonly newId: () => string;
  /** Waits `milliseconds`, or rejects with the signal's reason. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** The purpose of an exchange with the upstream. */
export interface ExchangeKind {
  /** The label in metrics and captures: `completion`, `continue`, `login`, … */
  readonly label: string;
  /** Set if the exchange is part of a generation: its chat session, or null if each request is a separate generation. */
  readonly round?: { readonly session: string | null };
}

/** A provider protocol. CONTRIBUTING.md (Add a driver) has the steps to add one. */
export interface Driver {
  /** The name in `PROVIDER_DRIVER` and of the folder. */
  readonly id: string;
  /** Accounts must sign in before any request. If absent, an API key is sufficient. */
  readonly signsIn?: true;
  /**
   * The model catalogue describes this provider's models. For other backends the ids of the catalogue have no special
   * meaning.
   */
  readonly servesCatalogue?: true;
  /** How the pool selects accounts unless the provider's settings say otherwise. Absent: `affinity`. */
  readonly defaultStrategy?: SelectionStrategy;
  /** Request paths contain the model's name. */
  readonly modelNamesInPaths?: true;
  /** Creates a provider. It holds no connection and serves any number of concurrent requests. */
  create(options: ProviderOptions): Provider;
  /** Classifies an exchange by the path of its upstream URL. */
  classifyExchange(path: string): ExchangeKind;
  /** Creates a decoder for a captured answer of the given media type. */
  createCaptureDecoder(contentType: string): TurnDecoder;
}
