import type { ProviderEntry, ProviderModel } from "../../core/config/schemas/provider-schema.ts";
import type { KnownModel, KnownModels, KnownProvider, NameMatch } from "./known-model.ts";

function matches(match: NameMatch, name: string): boolean {
  if ("equals" in match) return name === match.equals.toLowerCase();
  if ("starts_with" in match) return name.startsWith(match.starts_with.toLowerCase());
  if ("ends_with" in match) return name.endsWith(match.ends_with.toLowerCase());
  if ("contains" in match) return name.includes(match.contains.toLowerCase());
  if ("regex" in match) return new RegExp(match.regex, "i").test(name);
  return "and" in match
    ? match.and.every((part) => matches(part, name))
    : match.or.some((part) => matches(part, name));
}

/**
 * After the pattern of an address: another host must not begin with the pattern.
 * A pattern may end with a dot or a slash.
 */
const END_OF_HOST = "(?:(?<=[/.])|(?=[:/]|$))";

/** The known models of one provider. */
export class ProviderKnowledge {
  readonly #known: KnownModels;
  readonly #provider: KnownProvider | undefined;

  /** @param address the base address of the provider's API */
  constructor(known: KnownModels, address: string) {
    this.#known = known;
    this.#provider = known.providers.find(({ address: pattern }) =>
      new RegExp(`^(?:${pattern})${END_OF_HOST}`).test(address),
    );
  }

  /** The known model with this name; null if there is none. Names are the provider's own. */
  find(name: string): KnownModel | null {
    const provider = this.#provider;
    if (provider === undefined) return null;
    const fallbacks = (provider.fallbacks ?? []).flatMap((id) =>
      this.#known.providers.filter((other) => other.id === id),
    );
    // Google's API lists its models as `models/…`.
    const lower = name.toLowerCase().replace(/^models\//, "");
    for (const { models } of [provider, ...fallbacks]) {
      const found = models.find(({ match }) => matches(match, lower));
      if (found !== undefined) return found;
    }
    return null;
  }

  /** What the configuration can hold of a known model: its price, context and abilities; null if it is unknown. */
  describe(name: string): ProviderModel | null {
    const model = this.find(name);
    if (model === null) return null;
    const { context, output, vision, thinking, price } = model;
    return {
      ...(context === undefined ? {} : { context }),
      ...(output === undefined ? {} : { output }),
      ...(vision === undefined ? {} : { vision }),
      ...(thinking === undefined ? {} : { thinking }),
      price: { ...price, input: price.input ?? 0, output: price.output ?? 0 },
    };
  }
}

/** Loads what is known of all models: only administrators and the schedule need it. */
export async function loadKnownModels(): Promise<KnownModels> {
  return (await import("./known-models-data.ts")).KNOWN_MODELS;
}

/** Loads what is known of a provider's models. */
export async function loadProviderKnowledge({
  base_url,
}: Pick<ProviderEntry, "base_url">): Promise<ProviderKnowledge> {
  return new ProviderKnowledge(await loadKnownModels(), base_url);
}
