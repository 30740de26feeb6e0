import type { Conversation, Sampling } from "../conversation/conversation.ts";
import type { CatalogueModel } from "../conversation/model.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { searchModel, visionModel } from "../models/catalogue.ts";
import { isImage } from "../provider/attachments.ts";
import type { Abilities } from "../provider/provider.ts";

/**
 * A conversation as a provider can answer it: one that holds images anywhere goes to the catalogue's model with vision,
 * unless the backend itself knows which models see them; one that asks for a web search goes to the model that searches.
 *
 * @param imageFiles whether a file that it refers to by id is an image.
 */
export function suited(
  conversation: Conversation,
  abilities: Pick<Abilities, "images" | "search">,
  imageFiles = false,
): Conversation {
  const { model } = conversation;
  // The catalogue knows nothing of other models.
  if (model.provider !== undefined) return conversation;
  const searching = conversation.webSearch === undefined ? model : searcherOf(model, abilities.search);
  const wanted: Conversation =
    searching === model
      ? conversation
      : { ...conversation, model: { ...searching, requested: model.requested } };
  if (abilities.images === "backend" || model.vision || !(imageFiles || holdsImage(conversation))) {
    return wanted;
  }
  return seeing(conversation);
}

/** The conversation with the catalogue's model that sees images. */
export function seeing(conversation: Conversation): Conversation {
  const { model } = conversation;
  if (model.provider !== undefined) return conversation;
  return { ...conversation, model: { ...visionModel(model), requested: model.requested } };
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
