import type { Conversation, GenerationOptions } from "../../../core/conversation/conversation.ts";
import type { CatalogueModel } from "../../../core/conversation/model.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { getSearchModel, getVisionModel } from "../../models/catalogue.ts";
import type { ProviderCapabilities } from "../../providers/provider.ts";
import { isImage } from "../../providers/requests/attachments.ts";

/**
 * Selects a model that can answer the conversation. A conversation with images goes to the catalogue's model with vision,
 * unless the backend itself knows which models accept images. A request for a web search goes to the model that searches.
 * Coding agents declare the search next to their own tools in every request, so that the model may search: if that needs
 * another model, the search is left out.
 *
 * For a model of a configured provider that lacks the ability, another model of that provider replaces it, if there is one.
 *
 * @param imageFiles whether a file that the conversation refers to by id is an image
 * @throws GatewayError 400 for images that no model of the provider is known to see
 */
export function selectCapableModel(
  conversation: Conversation,
  capabilities: Pick<ProviderCapabilities, "images" | "search">,
  imageFiles = false,
): Conversation {
  const { model } = conversation;
  if (model.provider !== undefined) return selectProviderModel(conversation, imageFiles);
  const withSearch = withSearchModel(conversation, findSearchModel(model, capabilities.search));
  if (capabilities.images === "backend" || model.vision || !(imageFiles || hasImage(conversation))) {
    return withSearch;
  }
  return withVisionModel(conversation);
}

/** Replaces the model by its variant with vision, if there is one. */
export function withVisionModel(conversation: Conversation): Conversation {
  const { model } = conversation;
  const visionModel = model.provider === undefined ? getVisionModel(model) : model.visionVariant;
  return visionModel === undefined ? conversation : withModel(conversation, visionModel);
}

/**
 * The same for a model of a configured provider: another model of that provider replaces one that is known to lack vision
 * or search.
 */
function selectProviderModel(conversation: Conversation, imageFiles: boolean): Conversation {
  const { model, contentField: field } = conversation;
  const withSearch = withSearchModel(conversation, model.searchVariant ?? model);
  if (withSearch.model.vision || !(imageFiles || hasImage(conversation))) return withSearch;
  if (model.visionVariant !== undefined) return withModel(conversation, model.visionVariant);
  if (model.vision) return conversation;
  const named = JSON.stringify(model.requested);
  throw invalidRequest(`${field} contains an image, but the model ${named} has no vision`, field);
}

/**
 * Replaces the model by the one that searches, if the request asks for a search. If the search is only offered and needs
 * another model, the search is left out.
 */
function withSearchModel(conversation: Conversation, searchModel: CatalogueModel): Conversation {
  const { webSearch, ...rest } = conversation;
  if (webSearch === undefined || searchModel === conversation.model) return conversation;
  const needsSearch = webSearch.isRequested === true || conversation.tools.length === 0;
  return needsSearch ? withModel(conversation, searchModel) : rest;
}

function withModel(conversation: Conversation, model: CatalogueModel): Conversation {
  return { ...conversation, model: { ...model, requested: conversation.model.requested } };
}

/** The model's variant that searches, if the provider supports it; else the model itself. */
function findSearchModel(model: CatalogueModel, search: ProviderCapabilities["search"]): CatalogueModel {
  const variant = getSearchModel(model);
  return search === "catalogue" || search?.models.has(variant.id) === true ? variant : model;
}

/** Options that change what the answer is, so that they cannot be left out, with the reason for the caller. */
const ESSENTIAL_OPTIONS = [
  ["n", "a request has one answer"],
  ["logprobs", "the provider does not state log probabilities"],
  ["modalities", "the answer is text"],
] as const satisfies readonly (readonly [keyof GenerationOptions, string])[];

/**
 * Rejects essential options that the provider does not support. Unsupported options that only influence the choice of words
 * are left out elsewhere.
 *
 * @throws GatewayError 400 that names the field
 */
export function rejectUnsupportedOptions(
  { options, optionNames }: Conversation,
  capabilities: Pick<ProviderCapabilities, "options">,
): void {
  for (const [option, reason] of ESSENTIAL_OPTIONS) {
    if (options[option] === undefined || capabilities.options.has(option)) continue;
    const field = optionNames?.[option] ?? option;
    throw invalidRequest(`${field} cannot be met: ${reason}`, field);
  }
}

function hasImage({ messages }: Conversation): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.type !== "text" && isImage(part)));
}
