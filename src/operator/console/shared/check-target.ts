import { listOfferedModels, listProviders, type ProviderView } from "../api/providers.ts";
import { texts } from "./texts.ts";

/** What is known of a model's name in a route. */
export interface TargetCheck {
  /** Whether requests to the name can be expected to be answered. */
  readonly isKnown: boolean;
  /** What is wrong with the name; empty: nothing. */
  readonly problem: string;
}

const KNOWN: TargetCheck = { isKnown: true, problem: "" };
const unknown = (problem: string): TargetCheck => ({ isKnown: false, problem });

const isEqual = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

type CheckedProvider = Pick<ProviderView, "id" | "models" | "enabled">;

/** What a check needs to know. */
export interface KnownModels {
  /** Names that the gateway lists: models, and routes. */
  readonly models: readonly string[];
  readonly providers: readonly CheckedProvider[];
  /** Reads the models that a provider offers. Rejects if the provider tells no list. */
  readonly readOffered: (provider: string) => Promise<readonly string[]>;
}

/**
 * Checks a name with a provider, such as `vllm/qwen3:8b`: the gateway passes any model's name on to a provider, so that a
 * typing error shows only in the provider's answer.
 */
async function checkProviderModel(
  { id, models, enabled }: CheckedProvider,
  model: string,
  readOffered: KnownModels["readOffered"],
): Promise<TargetCheck> {
  if (!enabled) return unknown(texts.providerIsDisabled(id));
  const listed = Object.entries(models).find(([name, entry]) =>
    [name, typeof entry === "string" ? entry : (entry.upstream ?? name)].some((known) =>
      isEqual(known, model),
    ),
  );
  if (listed !== undefined) {
    const [, entry] = listed;
    return typeof entry !== "string" && entry.enabled === false
      ? unknown(texts.modelIsDisabled(id, model))
      : KNOWN;
  }
  const offered = await readOffered(id).catch(() => null);
  if (offered === null) return unknown(texts.modelNotListed(id, model));
  return offered.some((name) => isEqual(name, model)) ? KNOWN : unknown(texts.modelNotOffered(id, model));
}

/**
 * Checks whether a name in a route is that of a model, a route or an alias, or of a model that its provider has.
 *
 * @param resolved the model to which the gateway resolves the name
 */
export async function checkTarget(name: string, resolved: string, known: KnownModels): Promise<TargetCheck> {
  const isListed = (id: string) => known.models.some((model) => isEqual(model, id));
  if (isListed(name)) return KNOWN;
  const slash = name.indexOf("/");
  // An alias leads to a listed model; what leads elsewhere is passed on by `unknown_models`.
  if (slash <= 0) return isListed(resolved) ? KNOWN : unknown(texts.nameIsUnknown(name, resolved));
  const id = name.slice(0, slash);
  const provider = known.providers.find((entry) => isEqual(entry.id, id));
  if (provider === undefined) return unknown(texts.noSuchProvider(id));
  return checkProviderModel(provider, name.slice(slash + 1), known.readOffered);
}

/** Reads what checks need. Asks each provider at most once for the models that it offers. */
export async function readKnownModels(models: readonly string[]): Promise<KnownModels> {
  const offered = new Map<string, Promise<readonly string[]>>();
  const readOffered = (provider: string) => {
    const asked = offered.get(provider) ?? listOfferedModels(provider).then(({ models }) => models);
    offered.set(provider, asked);
    return asked;
  };
  return { models, providers: await listProviders(), readOffered };
}
