import { fromBase64 } from "../../../core/encoding/bytes.ts";
import { type Attachment, isText } from "../attachments.ts";
import { sniffMediaType } from "../media-type-sniffing.ts";
import { renderTextFile } from "../prompt-text.ts";
import type { RequestAttachments } from "../request-attachments.ts";
import type { WirePart } from "./wire.ts";

/**
 * Translates an attachment into a content block: images and PDF documents as they are, other documents as text.
 *
 * @throws GatewayError 400 for a type that the protocol has no block for.
 */
export function toContentBlock(attachment: Attachment, attachments: RequestAttachments): WirePart {
  const { filename } = attachment;
  if (attachment.kind === "text") return { type: "text", text: renderTextFile(filename, attachment.text) };
  if (attachment.source.kind === "file") {
    throw attachments.fault("refers to a file by id, but this provider keeps no files");
  }
  const loaded = attachments.loaded(attachment);
  if (loaded === undefined) return { type: "text", text: "" };
  const { data } = loaded;
  const mediaType = sniffMediaType(data) ?? loaded.mediaType;
  const source = { type: "base64", media_type: mediaType, data } as const;
  if (mediaType.startsWith("image/")) return { type: "image", source };
  if (mediaType === "application/pdf") return { type: "document", source, title: filename };
  // The type of a file given by URL is known only after the download.
  if (isText(mediaType, filename)) {
    return { type: "text", text: renderTextFile(filename, new TextDecoder().decode(fromBase64(data))) };
  }
  throw attachments.fault(`contains a file of the type ${mediaType}, which the provider does not read`);
}
