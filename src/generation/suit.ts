import type { Conversation, Sampling } from "../conversation/conversation.ts";
import type { CatalogueModel } from "../conversation/model.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { searchModel, visionModel } from "../models/catalogue.ts";
import { isImage } from "../provider/attachments.ts";
import type { Abilities } from "../provider/provider.ts";

/**
 * Selects a model that can answer the conversation. A conversation with images goes to the catalogue's model with vision,
 * unless the backend itself knows which models accept images. A request for a web search goes to the model that searches.
 * Coding agents declare the search beside their own tools in every request, and mean that the model may search: if that
 * would need another model, the search is left out.
 *
 * For a model of a configured provider that lacks the ability, another model of that provider replaces it, if there is one.
 *
 * @param imageFiles whether a file that the conversation refers to by id is an image
 * @throws GatewayError 400 for images that no model of the provider is known to see
 */
export function suited(
  conversation: Conversation,
  abilities: Pick<Abilities, "images" | "search">,
  imageFiles = false,
): Conversation {
  const { model } = conversation;
  if (model.provider !== undefined) return suitedAtProvider(conversation, imageFiles);
  const wanted = searched(conversation, searcherOf(model, abilities.search));
  if (abilities.images === "backend" || model.vision || !(imageFiles || holdsImage(conversation))) {
    return wanted;
  }
  return seeing(conversation);
}

/** Replaces the model by the one that sees images, if there is one. */
export function seeing(conversation: Conversation): Conversation {
  const { model } = conversation;
  const sighted = model.provider === undefined ? visionModel(model) : model.sighted;
  return sighted === undefined ? conversation : withModel(conversation, sighted);
}

/**
 * The same for a model of a configured provider: another model of that provider replaces one that is known to lack vision
 * or search.
 */
function suitedAtProvider(conversation: Conversation, imageFiles: boolean): Conversation {
  const { model, contentField: field } = conversation;
  const wanted = searched(conversation, model.searching ?? model);
  if (wanted.model.vision || !(imageFiles || holdsImage(conversation))) return wanted;
  if (model.sighted !== undefined) return withModel(conversation, model.sighted);
  if (model.vision) return conversation;
  const named = JSON.stringify(model.requested);
  throw invalidRequest(`${field} contains an image, but the model ${named} has no vision`, field);
}

/**
 * Replaces the model by the one that searches, if the request asks for a search. If the search is only offered and needs
 * another model, the search is left out.
 */
function searched(conversation: Conversation, searching: CatalogueModel): Conversation {
  const { webSearch, ...rest } = conversation;
  if (webSearch === undefined || searching === conversation.model) return conversation;
  const isAsked = webSearch.asked === true || conversation.tools.length === 0;
  return isAsked ? withModel(conversation, searching) : rest;
}

function withModel(conversation: Conversation, model: CatalogueModel): Conversation {
  return { ...conversation, model: { ...model, requested: conversation.model.requested } };
}

/** The model's variant that searches, if the provider supports it; else the model itself. */
function searcherOf(model: CatalogueModel, search: Abilities["search"]): CatalogueModel {
  const variant = searchModel(model);
  return search === "catalogue" || search?.models.has(variant.id) === true ? variant : model;
}

/** Options that change what the answer is, so that they cannot be left out, with the reason for the caller. */
const ESSENTIAL = [
  ["n", "a request has one answer"],
  ["logprobs", "the provider does not state log probabilities"],
  ["modalities", "the answer is text"],
] as const satisfies readonly (readonly [keyof Sampling, string])[];

/**
 * Rejects essential options that the provider does not support. Unsupported options that only influence the choice of words
 * are left out elsewhere.
 *
 * @throws GatewayError 400 that names the field
 */
export function refuseUnmet(
  { sampling, optionNames }: Conversation,
  { options }: Pick<Abilities, "options">,
): void {
  for (const [option, why] of ESSENTIAL) {
    if (sampling[option] === undefined || options.has(option)) continue;
    const field = optionNames?.[option] ?? option;
    throw invalidRequest(`${field} cannot be met: ${why}`, field);
  }
}

function holdsImage({ messages }: Conversation): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.type !== "text" && isImage(part)));
}
