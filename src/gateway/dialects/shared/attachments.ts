import type { AttachmentSource } from "../../../core/conversation/conversation.ts";
import { textToBase64 } from "../../../core/encoding/bytes.ts";
import { parseDataUrl } from "../../../core/encoding/data-url.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";

const BASE64 = /^[A-Za-z0-9+/_=\s-]*$/;

/**
 * Parses an attachment: a `data:` URL, an `http:` or `https:` URL, or plain base64.
 *
 * @param fieldPath the field's name, for the error.
 * @throws GatewayError 400 for any other value.
 */
export function parseAttachmentSource(
  value: string,
  fieldPath: string,
  mediaType = "application/octet-stream",
): AttachmentSource {
  const url = parseDataUrl(value);
  if (url !== null) {
    const type = url.mediaType || mediaType;
    if (!url.base64) return { kind: "inline", data: percentToBase64(url.data, fieldPath), mediaType: type };
    if (!BASE64.test(url.data)) throw invalidRequest(`${fieldPath} is not valid base64`, fieldPath);
    return { kind: "inline", data: url.data, mediaType: type };
  }
  if (/^https?:\/\//i.test(value)) return { kind: "url", url: value };
  if (value !== "" && BASE64.test(value)) return { kind: "inline", data: value, mediaType };
  throw invalidRequest(`${fieldPath} must be a data: URL, an https: URL or base64`, fieldPath);
}

function percentToBase64(payload: string, fieldPath: string): string {
  try {
    return textToBase64(decodeURIComponent(payload));
  } catch {
    throw invalidRequest(`${fieldPath} is not a valid data: URL`, fieldPath);
  }
}
