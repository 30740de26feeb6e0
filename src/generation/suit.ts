import type { Conversation } from "../conversation/conversation.ts";
import { visionModel } from "../models/catalogue.ts";
import { isImage } from "../provider/attachments.ts";
import type { Abilities } from "../provider/provider.ts";

/**
 * A conversation as a provider can answer it: one that holds images anywhere goes to the catalogue's model with vision,
 * unless the backend itself knows which models see them.
 *
 * @param imageFiles whether a file that it refers to by id is an image.
 */
export function suited(conversation: Conversation, abilities: Abilities, imageFiles = false): Conversation {
  const { model } = conversation;
  if (abilities.images === "backend" || model.vision || !(imageFiles || holdsImage(conversation))) {
    return conversation;
  }
  return { ...conversation, model: { ...visionModel(model), requested: model.requested } };
}

function holdsImage({ messages }: Conversation): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.type !== "text" && isImage(part)));
}
