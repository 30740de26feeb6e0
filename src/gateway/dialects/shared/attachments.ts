import type { AttachmentSource } from "../../../core/conversation/conversation.ts";
import { textToBase64 } from "../../../core/encoding/bytes.ts";
import { parseDataUrl } from "../../../core/encoding/data-url.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";

const BASE64 = /^[A-Za-z0-9+/_=\s-]*$/;

/**
 * Parses an attachment: a `data:` URL, an `http:` or `https:` URL, or plain base64.
 *
 * @param where the field's name, for the error.
 * @throws GatewayError 400 for any other value.
 */
export function parseAttachmentSource(
  value: string,
  where: string,
  mediaType = "application/octet-stream",
): AttachmentSource {
  const url = parseDataUrl(value);
  if (url !== null) {
    const type = url.mediaType || mediaType;
    if (!url.base64) return { kind: "inline", data: percentToBase64(url.data, where), mediaType: type };
    if (!BASE64.test(url.data)) throw invalidRequest(`${where} is not valid base64`, where);
    return { kind: "inline", data: url.data, mediaType: type };
  }
  if (/^https?:\/\//i.test(value)) return { kind: "url", url: value };
  if (value !== "" && BASE64.test(value)) return { kind: "inline", data: value, mediaType };
  throw invalidRequest(`${where} must be a data: URL, an https: URL or base64`, where);
}

function percentToBase64(payload: string, where: string): string {
  try {
    return textToBase64(decodeURIComponent(payload));
  } catch {
    throw invalidRequest(`${where} is not a valid data: URL`, where);
  }
}
