import { DEFAULT_PROVIDER } from "../../../core/config/provider-id.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";

/** How long a fetched list of models counts as current, milliseconds. */
const FRESH_MS = 30_000;
/** The maximum number of model names in an error message. */
const MAX_LISTED_NAMES = 20;

/** Names of models that cannot chat. */
const NO_CHAT = /embed|rerank|whisper|tts|moderation/i;

/**
 * Maps requested models to the names that a backend lists.
 * The gateway asks for the list only after the backend has refused a model that the configuration does not map. A
 * backend that accepts every name, or that is fully configured, is never asked.
 */
export class BackendModelNames {
  #names: readonly string[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;

  /**
   * Returns the backend's name for a model: the listed name that matches `requested`, else the only chat model, else
   * `id`.
   */
  resolveName(id: string, requested: string): string {
    const untaggedName = withoutTag(requested);
    const known = this.#names.find((name) => name.toLowerCase() === requested.toLowerCase());
    const match =
      known ?? this.#names.find((name) => withoutTag(name) === untaggedName) ?? this.#onlyChatModel;
    return match ?? id;
  }

  /** Fetches the list of names unless it is current. Ignores failures: they must not replace the error of the request. */
  async refresh(list: () => Promise<readonly string[]>, now: number): Promise<void> {
    if (now - this.#listedAt < FRESH_MS) return;
    this.#listedAt = now;
    this.#names = await list().catch(() => this.#names);
  }

  /**
   * Returns the error with the list of available models added to its message.
   *
   * @param advice what can be done about it; without one, how to ask for a listed model
   */
  withAvailableModels(error: ProviderError, advice?: string): ProviderError {
    if (this.#names.length === 0) return error;
    const nameList = this.#names.slice(0, MAX_LISTED_NAMES).join(", ");
    const omitted =
      this.#names.length > MAX_LISTED_NAMES ? `, and ${this.#names.length - MAX_LISTED_NAMES} more` : "";
    const usual = `ask for one as ${DEFAULT_PROVIDER}/${this.#names[0]}, or map the name in PROVIDER_MODELS`;
    const { kind, message, status, retryAfter, upstreamFault } = error;
    return new ProviderError(
      kind,
      `${message.replace(/(?<![.\s])[.\s]+$/, "")}; the provider has ${nameList}${omitted}: ${advice ?? usual}`,
      { status, cause: error, retryAfter, upstreamFault, isVerbatim: error.isVerbatim },
    );
  }

  /** The name of the only listed model that can chat; undefined if there are none or several. */
  get #onlyChatModel(): string | undefined {
    const able = this.#names.filter((name) => !NO_CHAT.test(name));
    return able.length === 1 ? able[0] : undefined;
  }
}

function withoutTag(name: string): string {
  return name.toLowerCase().replace(/:latest$/, "");
}
