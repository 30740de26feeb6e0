import { type Attachment, providerFileId } from "../requests/attachments.ts";
import { sniffMediaType } from "../requests/media-type-sniffing.ts";
import { renderTextFile } from "../requests/prompt-text.ts";
import type { RequestAttachments } from "../requests/request-attachments.ts";
import type { WireBlock, WirePart, WireRequest } from "./wire.ts";

/**
 * Translates an attachment into a content block: images and PDF documents as they are, other documents as text.
 *
 * @throws GatewayError 400 for a type that the protocol has no block for.
 */
export function toContentBlock(attachment: Attachment, attachments: RequestAttachments): WirePart {
  const { filename } = attachment;
  if (attachment.kind === "text") return { type: "text", text: renderTextFile(filename, attachment.text) };
  if (attachment.source.kind === "file") {
    const file = { type: "file", file_id: providerFileId(attachment.source) } as const;
    if (attachment.kind === "image") return { type: "image", source: file };
    return { type: "document", source: file, title: filename };
  }
  const loaded = attachments.loaded(attachment);
  if (loaded === undefined) return { type: "text", text: "" };
  const { data } = loaded;
  const mediaType = sniffMediaType(data) ?? loaded.mediaType;
  const source = { type: "base64", media_type: mediaType, data } as const;
  if (mediaType.startsWith("image/")) return { type: "image", source };
  if (mediaType === "application/pdf") return { type: "document", source, title: filename };
  throw attachments.fault(`contains a file of the type ${mediaType}, which the provider does not read`);
}

/** Whether a request names a file that the backend stores. */
export function namesFile({ messages }: WireRequest): boolean {
  return messages.some(({ content }) => content.some(isFileBlock));
}

function isFileBlock(block: WireBlock): boolean {
  if (block.type === "tool_result") return block.content?.some(isFileBlock) ?? false;
  return (block.type === "image" || block.type === "document") && block.source.type === "file";
}
