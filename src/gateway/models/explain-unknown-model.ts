import type { NamedModel } from "../../core/config/name-list.ts";
import { DEFAULT_PROVIDER } from "../../core/config/provider-id.ts";
import { findEntryIgnoringCase } from "../../core/encoding/find-ignoring-case.ts";
import type { Variables } from "../../core/variables/variables.ts";
import { findDriver } from "../providers/drivers.ts";
import { NO_THINKING_SUFFIX } from "./catalogue.ts";
import type { ModelNameConfig } from "./configured-models.ts";
import { DEFAULT_ALIASES } from "./default-aliases.ts";
import { ModelNotFoundError } from "./model-not-found.ts";
import { compareNames } from "./near-names.ts";
import { findNamedModel, listAllModels, MAX_NAME_LENGTH } from "./resolve-model.ts";

/** How many names an error suggests, and with how many it compares: comparing costs time. */
const MAX_SUGGESTIONS = 3;
const MAX_COMPARED = 2_000;

/** Suggests `provider/name` with each provider id that is similar to the requested one. */
function suggestProvider(requested: string, { providers = [] }: ModelNameConfig): string[] {
  const slash = requested.indexOf("/");
  if (slash <= 0) return [];
  const written = requested.slice(0, slash).toLowerCase();
  const ids = [DEFAULT_PROVIDER, ...providers.filter(({ enabled }) => enabled).map(({ id }) => id)];
  if (ids.some((id) => id.toLowerCase() === written)) return [];
  const near = ids.filter((id) => compareNames(written, id.toLowerCase()) < Number.POSITIVE_INFINITY);
  return near.map((id) => id + requested.slice(slash));
}

/** Whether the caller may use a model of this name. */
export type AllowsModel = (model: NamedModel) => boolean;

/** Whether the caller may use what a name stands for. A name without a model is judged by itself. */
function isAllowedName(requested: string, nameConfig: ModelNameConfig, allows: AllowsModel): boolean {
  const id = findNamedModel(requested, nameConfig)?.id ?? DEFAULT_ALIASES.get(requested) ?? requested;
  return allows({ requested, id });
}

/** Suggests names that are similar to a requested one and that the caller may use, the most similar first. */
export function suggestModelNames(
  requested: string,
  nameConfig: ModelNameConfig,
  allows: AllowsModel = () => true,
): string[] {
  const name = requested.trim().toLowerCase();
  if (name === "" || name.length > MAX_NAME_LENGTH) return [];
  const isAllowed = (near: string) => isAllowedName(near, nameConfig, allows);
  const atProvider = suggestProvider(requested.trim(), nameConfig).filter(isAllowed);
  if (atProvider.length > 0) return atProvider.slice(0, MAX_SUGGESTIONS);
  const names = [...listAllModels(nameConfig).map(({ id }) => id), ...DEFAULT_ALIASES.keys()];
  const isSuffixed = name.endsWith(NO_THINKING_SUFFIX);
  return names
    .filter((listed) => isSuffixed || !listed.endsWith(NO_THINKING_SUFFIX))
    .slice(0, MAX_COMPARED)
    .map((listed) => ({ listed, distance: compareNames(name, listed.toLowerCase()) }))
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance)
    .map(({ listed }) => listed)
    .filter(isAllowed)
    .slice(0, MAX_SUGGESTIONS);
}

/**
 * Finds a name in the configuration, also one that stands for nothing now, for example a disabled model. Returns it as the
 * configuration spells it: so names that callers invent are never returned.
 */
export function findConfiguredName(name: string, nameConfig: ModelNameConfig): string | undefined {
  const { model_aliases = {}, model_routes = {}, providers = [] } = nameConfig;
  const listed = findEntryIgnoringCase(model_aliases, name) ?? findEntryIgnoringCase(model_routes, name);
  if (listed !== undefined) return listed[0];
  const slash = name.indexOf("/");
  const providerId = name.slice(0, slash).toLowerCase();
  const provider = providers.find(({ id }) => id.toLowerCase() === providerId);
  if (provider === undefined) return undefined;
  const model = findEntryIgnoringCase(provider.models, name.slice(slash + 1));
  return model === undefined ? undefined : `${provider.id}/${model[0]}`;
}

/** How a caller asks the default provider for a model by its own name; empty: that cannot help. */
function describeDefaultName(
  requested: string,
  { providerDriver, providerBaseUrl }: Pick<Variables, "providerDriver" | "providerBaseUrl">,
): string {
  const hasOwnNames = providerBaseUrl !== null && findDriver(providerDriver)?.servesCatalogue !== true;
  const name = `${DEFAULT_PROVIDER}/${requested.trim()}`;
  if (!hasOwnNames || requested.toLowerCase().startsWith(`${DEFAULT_PROVIDER}/`)) return "";
  if (requested.trim() === "" || name.length > MAX_NAME_LENGTH) return "";
  return `, and ${JSON.stringify(name)} is the model of this name at the default provider`;
}

/** The question after an error, with its colon: did you mean another name? Empty: no name is near. */
export function askWhetherMeant(names: readonly string[]): string {
  return names.length === 0
    ? ""
    : `: did you mean ${names.map((name) => JSON.stringify(name)).join(" or ")}?`;
}

/**
 * Adds to the error of an unknown model which names are near, and where all of them are listed.
 *
 * @param allows which names the caller may know of; null: no near names are looked for, which costs time
 */
export function explainUnknownModel(
  { requested, message, status }: ModelNotFoundError,
  nameConfig: ModelNameConfig,
  variables: Pick<Variables, "providerDriver" | "providerBaseUrl">,
  allows: AllowsModel | null,
): ModelNotFoundError {
  const near = allows === null ? [] : suggestModelNames(requested, nameConfig, allows);
  const question = askWhetherMeant(near) || ":";
  const ownName = `${DEFAULT_PROVIDER}/${requested.trim()}`;
  const isUsable = allows === null || allows({ requested: ownName, id: ownName });
  const advice = `GET /v1/models lists the models${isUsable ? describeDefaultName(requested, variables) : ""}`;
  return new ModelNotFoundError(requested, `${message}${question} ${advice}`, status === 404 ? 404 : 400);
}
