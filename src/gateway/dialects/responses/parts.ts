import type { AttachmentSource, Part } from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseAttachmentSource } from "../shared/attachments.ts";
import { optionalString } from "../shared/members.ts";

/** Returns the source of an attachment: its `file_id`, or else the first of the named fields. */
function toAttachmentSource(
  fields: JsonObject,
  names: readonly string[],
  fieldPath: string,
): AttachmentSource {
  const fileId = optionalString(fields, "file_id");
  if (fileId !== undefined) return { kind: "file", fileId };
  for (const name of names) {
    const value = fields[name];
    const address = isObject(value) ? optionalString(value, "url") : value;
    if (typeof address === "string") return parseAttachmentSource(address, `${fieldPath}.${name}`);
  }
  throw invalidRequest(`${fieldPath} needs one of ${["file_id", ...names].join(", ")}`, fieldPath);
}

function toImagePart(fields: JsonObject, fieldPath: string): Part {
  const source = toAttachmentSource(fields, ["image_url"], fieldPath);
  const nested = fields["image_url"];
  const detail =
    optionalString(fields, "detail") ?? (isObject(nested) ? optionalString(nested, "detail") : undefined);
  return detail === undefined ? { type: "image", source } : { type: "image", source, detail };
}

function toFilePart(fields: JsonObject, fieldPath: string): Part {
  const source = toAttachmentSource(fields, ["file_data", "file_url"], fieldPath);
  const filename = optionalString(fields, "filename");
  return filename === undefined ? { type: "file", source } : { type: "file", source, filename };
}

/** Returns whether an input item is a content part without a message around it. */
export function isStandalonePart(type: string | undefined): boolean {
  return type === "input_text" || type === "input_image" || type === "input_file" || type === "text";
}

function toPart(value: unknown, fieldPath: string): Part {
  if (typeof value === "string") return { type: "text", text: value };
  if (!isObject(value)) throw invalidRequest(`${fieldPath} must be an object`, fieldPath);
  switch (value["type"]) {
    case "input_image":
    case "image_url":
      return toImagePart(value, fieldPath);
    case "input_file":
      return toFilePart(value, fieldPath);
    case "file":
      return toFilePart(isObject(value["file"]) ? value["file"] : value, fieldPath);
    default: {
      const text = optionalString(value, "text") ?? optionalString(value, "refusal");
      if (text !== undefined) return { type: "text", text };
      throw invalidRequest(
        `${fieldPath}: content of type ${JSON.stringify(value["type"])} is not supported`,
        `${fieldPath}.type`,
      );
    }
  }
}

/**
 * Converts the content of a message or of a tool's output: a string, an array of parts, or absent (docs/clients.md,
 * assertion 14). Every part with text becomes a text part.
 *
 * @throws GatewayError 400 for a part whose content would be lost.
 */
export function toParts(content: unknown, fieldPath: string): Part[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (Array.isArray(content)) return content.map((part, index) => toPart(part, `${fieldPath}[${index}]`));
  return [toPart(content, fieldPath)];
}
