import type { Conversation, Sampling } from "../conversation/conversation.ts";
import type { CatalogueModel } from "../conversation/model.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { searchModel, visionModel } from "../models/catalogue.ts";
import { isImage } from "../provider/attachments.ts";
import type { Abilities } from "../provider/provider.ts";

/**
 * A conversation as a provider can answer it: one that holds images anywhere goes to the catalogue's model with vision,
 * unless the backend itself knows which models see them; one that asks for a web search goes to the model that searches.
 * Coding agents declare the search beside their own tools in every request, and mean that the model may search: where
 * another model would have to, it is not searched then.
 *
 * A provider's model that is known to do neither has another of the provider's in its place, where there is one.
 *
 * @param imageFiles whether a file that it refers to by id is an image.
 * @throws GatewayError 400 for images that no model of the provider is known to see.
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

/** The conversation with the catalogue's model that sees images. */
export function seeing(conversation: Conversation): Conversation {
  const { model } = conversation;
  const sighted = model.provider === undefined ? visionModel(model) : model.sighted;
  return sighted === undefined ? conversation : withModel(conversation, sighted);
}

/** The same for a model of a configured provider: another one of that provider's takes what it is known not to do. */
function suitedAtProvider(conversation: Conversation, imageFiles: boolean): Conversation {
  const { model, contentField: field } = conversation;
  const wanted = searched(conversation, model.searching ?? model);
  if (wanted.model.vision || !(imageFiles || holdsImage(conversation))) return wanted;
  if (model.sighted !== undefined) return withModel(conversation, model.sighted);
  if (model.vision) return conversation;
  const named = JSON.stringify(model.requested);
  throw invalidRequest(`${field} contains an image, but the model ${named} has no vision`, field);
}

/** The conversation with the model that searches, if it asks for that; without the search if that is another model and it is merely offered. */
function searched(conversation: Conversation, searching: CatalogueModel): Conversation {
  const { webSearch, ...rest } = conversation;
  if (webSearch === undefined || searching === conversation.model) return conversation;
  const isAsked = webSearch.asked === true || conversation.tools.length === 0;
  return isAsked ? withModel(conversation, searching) : rest;
}

function withModel(conversation: Conversation, model: CatalogueModel): Conversation {
  return { ...conversation, model: { ...model, requested: conversation.model.requested } };
}

/** The model that searches in place of one that may not. */
function searcherOf(model: CatalogueModel, search: Abilities["search"]): CatalogueModel {
  const variant = searchModel(model);
  return search === "catalogue" || search?.models.has(variant.id) === true ? variant : model;
}

/** Options without which an answer is not the one that was asked for, and what the caller is told. */
const ESSENTIAL = [
  ["n", "a request has one answer"],
  ["logprobs", "the provider does not state log probabilities"],
  ["modalities", "the answer is text"],
] as const satisfies readonly (readonly [keyof Sampling, string])[];

/**
 * Refuses what a provider cannot meet. Options that only shape how the model chooses its words are left out instead where
 * it does not know them.
 *
 * @throws GatewayError 400 that names the field.
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
