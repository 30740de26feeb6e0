import type { Attachment, PlaygroundTurn } from "../../../../gateway/dialects/playground/types.ts";

/** The message that the user writes. */
export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

export const NO_DRAFT: Draft = { text: "", attachments: [] };

/** Takes the last message out of a conversation, for editing. */
export function takeLastMessage(turns: readonly PlaygroundTurn[]): {
  readonly turns: readonly PlaygroundTurn[];
  readonly draft: Draft;
} {
  const last = turns.at(-1);
  if (last?.role !== "user") return { turns, draft: NO_DRAFT };
  return { turns: turns.slice(0, -1), draft: { text: last.text, attachments: last.attachments ?? [] } };
}

export const isEmptyDraft = ({ text, attachments }: Draft): boolean =>
  text.trim() === "" && attachments.length === 0;

/** Reads a file of the user's computer as an attachment. */
export function readAttachment(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => {
      const address = String(reader.result);
      const mediaType = file.type || "application/octet-stream";
      resolve({
        kind: mediaType.startsWith("image/") ? "image" : "file",
        name: file.name,
        mediaType,
        data: address.slice(address.indexOf(",") + 1),
        url: "",
      });
    };
    reader.readAsDataURL(file);
  });
}
