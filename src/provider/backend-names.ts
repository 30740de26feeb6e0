import { ProviderError } from "../errors/provider-error.ts";

/** How long a list of models is good enough to tell what is not there, milliseconds. */
const FRESH_MS = 30_000;
/** Names that are told of a list. */
const MOST_TOLD = 20;

/** Models that hold no conversation. */
const NO_CHAT = /embed|rerank|whisper|tts|moderation/i;

/** In which words backends without a code for it say that they do not have a model. */
const NO_MODEL =
  /\bmodel\b.{0,200}\b(?:not (?:found|exist|available)|(?:does not|doesn't|don't) exist|unknown)|unknown model/i;

/** Whether a backend refuses a request because it does not have the model; one that is overloaded has it. */
export function lacksModel(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError) || error.status < 400 || error.status > 499) return false;
  return (
    error.kind === "model_unavailable" || (error.kind === "invalid_request" && NO_MODEL.test(error.message))
  );
}

/**
 * What a backend calls its models. It is asked once it has refused a model that nobody has mapped to a name of its own: a backend that
 * takes every name, and one that is well configured, is never asked.
 */
export class BackendNames {
  #names: readonly string[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;

  /** The backend's name for a model: the one that was asked for if it is one, or that of the only model; `id` as far as is known. */
  nameOf(id: string, requested: string): string {
    const bare = withoutTag(requested);
    const known = this.#names.find((name) => name.toLowerCase() === requested.toLowerCase());
    const same = known ?? this.#names.find((name) => withoutTag(name) === bare) ?? this.#only;
    return same ?? id;
  }

  /** Learns the names, unless that was done lately. Whatever goes wrong says nothing of the request. */
  async learn(list: () => Promise<readonly string[]>, now: number): Promise<void> {
    if (now - this.#listedAt < FRESH_MS) return;
    this.#listedAt = now;
    this.#names = await list().catch(() => this.#names);
  }

  /** The refusal of a model, with the names that there are. */
  explained(error: ProviderError): ProviderError {
    if (this.#names.length === 0) return error;
    const told = this.#names.slice(0, MOST_TOLD).join(", ");
    const more = this.#names.length > MOST_TOLD ? `, and ${this.#names.length - MOST_TOLD} more` : "";
    const { kind, message, status, retryAfter, said } = error;
    return new ProviderError(
      kind,
      `${message.replace(/(?<![.\s])[.\s]+$/, "")}; the provider has ${told}${more}`,
      status,
      error,
      retryAfter,
      said,
    );
  }

  /** The only model that can hold a conversation. */
  get #only(): string | undefined {
    const able = this.#names.filter((name) => !NO_CHAT.test(name));
    return able.length === 1 ? able[0] : undefined;
  }
}

function withoutTag(name: string): string {
  return name.toLowerCase().replace(/:latest$/, "");
}
