import { OpenAiProvider } from "./openai/driver.ts";
import type { Provider } from "./provider.ts";
import { SessionsProvider } from "./sessions/driver.ts";

/** Which provider to speak to, and how. */
export interface ProviderOptions {
  /** The protocol that it speaks. */
  readonly kind: Provider["kind"];
  /** Its base address; for `openai` the one that ends in the version (`/v1`). A trailing slash does not matter. */
  readonly baseUrl: string;
  /** `openai`: the API key for accounts that have none of their own. */
  readonly token: string;
  /** `openai`: canonical model id → the backend's name; an id that is not in it is sent as it is. */
  readonly models: Readonly<Record<string, string>>;
  /** `openai`: whether tools are passed through or written into the prompt. */
  readonly toolCalls: "native" | "markup";
  /** Makes ids; `crypto.randomUUID` unless a test wants others. */
  readonly newId?: () => string;
  /** Waits `milliseconds`, or rejects with the signal's reason; real time unless a test wants another. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** The driver of a provider. It holds no connection, and serves any number of requests at once. */
export function createProvider(options: ProviderOptions): Provider {
  const { kind, baseUrl, token, models, toolCalls } = options;
  const newId = options.newId ?? (() => crypto.randomUUID());
  switch (kind) {
    case "sessions":
      return new SessionsProvider({ baseUrl, newId, sleep: options.sleep ?? sleep });
    case "openai":
      return new OpenAiProvider({ baseUrl, token, models, toolCalls, newId });
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
