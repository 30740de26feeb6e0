import type { Provider, TurnDecoder } from "./provider.ts";

/** Which provider to speak to, and how. */
export interface ProviderOptions {
  /** Its base address; what belongs to it depends on the driver. A trailing slash does not matter. */
  readonly baseUrl: string;
  /** The API key for accounts that have none of their own. */
  readonly token: string;
  /** Canonical model id → the backend's name; an id that is not in it is sent as it is. */
  readonly models: Readonly<Record<string, string>>;
  /** Whether tools are passed through or written into the prompt, where the protocol leaves the choice. */
  readonly toolCalls: "native" | "markup";
  /** Whether an answer that nobody wants streamed is asked for in one piece, where the protocol has both. */
  readonly wholeAnswers: boolean;
  /** Makes ids. */
  readonly newId: () => string;
  /** Waits `milliseconds`, or rejects with the signal's reason. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** What an exchange with the upstream is for. */
export interface ExchangeKind {
  /** For metrics and captures: `completion`, `continue`, `login`, … */
  readonly label: string;
  /** Set for a round of a generation: its chat session, or null where each request is a generation of its own. */
  readonly round?: { readonly session: string | null };
}

/**
 * A protocol in which a provider is spoken to. A folder exports one, and `drivers.ts` lists it: that is all there is to
 * adding one.
 */
export interface Driver {
  /** Its name: `PROVIDER_DRIVER`, and the folder. */
  readonly id: string;
  /** Its accounts sign in, and nothing can be asked without one. Absent: a key is all that is needed. */
  readonly signsIn?: true;
  /** The catalogue describes its provider's models. To other backends the catalogue's ids are names like any other. */
  readonly servesCatalogue?: true;
  /** The paths of its requests contain the model's name. */
  readonly modelNamesInPaths?: true;
  /** Makes a provider. It holds no connection, and serves any number of requests at once. */
  create(options: ProviderOptions): Provider;
  /** Tells what the path of an upstream address is for. */
  exchange(path: string): ExchangeKind;
  /** A decoder for a captured answer of that media type. */
  replay(contentType: string): TurnDecoder;
}
