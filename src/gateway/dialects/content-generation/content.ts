import * as z from "zod";
import type { Message, Part, ToolCall } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { withAliasForms } from "../../../core/routing/alias-forms.ts";
import { parseAttachmentSource } from "../shared/attachments.ts";
import { jsonObject } from "../shared/field-schemas.ts";
import { optionalString } from "../shared/members.ts";
import type { PendingToolCalls } from "../shared/pending-tool-calls.ts";
import { camelOrSnakeObject } from "./field-names.ts";

const blobSchema = camelOrSnakeObject(() => ({
  mimeType: z.string().nullish(),
  data: z.string(),
  displayName: z.string().nullish(),
}));
const fileSchema = camelOrSnakeObject(() => ({
  mimeType: z.string().nullish(),
  fileUri: z.string(),
  displayName: z.string().nullish(),
}));

const partSchema = camelOrSnakeObject(() => ({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  inlineData: blobSchema.nullish(),
  fileData: fileSchema.nullish(),
  functionCall: camelOrSnakeObject(() => ({
    id: z.string().nullish(),
    name: z.string().min(1),
    args: jsonObject.nullish(),
  })).nullish(),
  functionResponse: camelOrSnakeObject(() => ({
    id: z.string().nullish(),
    name: z.string().min(1),
    response: z.unknown().optional(),
    parts: z.array(z.unknown()).nullish(),
  })).nullish(),
  executableCode: camelOrSnakeObject(() => ({ language: z.string().nullish(), code: z.string() })).nullish(),
  codeExecutionResult: camelOrSnakeObject(() => ({
    outcome: z.string().nullish(),
    output: z.string().nullish(),
  })).nullish(),
}));

type ContentPart = z.output<typeof partSchema>;

const partOrTextSchema = withAliasForms(
  partSchema,
  () => [z.string()],
  (part) => (typeof part === "string" ? { text: part } : part),
);

const partsSchema = withAliasForms(
  z.array(partOrTextSchema),
  () => [partSchema],
  (value) => (isObject(value) ? [value] : value),
);

/** One turn of a conversation: `{role, parts}`. */
export const contentSchema = camelOrSnakeObject(() => ({
  role: z.string().nullish(),
  parts: partsSchema.nullish(),
}));

/** The turns of a conversation. A single turn may be sent without an array. */
export const contentsSchema = withAliasForms(
  z.array(contentSchema).min(1),
  () => [contentSchema, z.string()],
  (value) => (isObject(value) ? [value] : typeof value === "string" ? [{ parts: [{ text: value }] }] : value),
);

/** `systemInstruction`: a turn whose role is ignored, or plain text. */
export const systemSchema = withAliasForms(
  contentSchema,
  () => [z.string()],
  (value) => (typeof value === "string" ? { parts: [{ text: value }] } : value),
);

/**
 * Matches the URI that an upload returned. It accepts any host, because a gateway behind a proxy has several host names.
 */
const UPLOADED_FILE_URI = /^https?:\/\/[^/?#]+\/v1beta\/files\/([^/?#]+)$/i;

/** Returns the id of an uploaded file that a URI names, or undefined if the URI is on another service. */
function parseFileId(uri: string): string | undefined {
  const fileId = UPLOADED_FILE_URI.exec(uri)?.[1];
  if (fileId !== undefined || /^(?:https?|data):/i.test(uri)) return fileId;
  return uri.replace(/^files\//, "");
}

function toAttachmentPart(
  mediaType: string,
  source: ReturnType<typeof parseAttachmentSource>,
  name: string | undefined,
): Part {
  if (mediaType.startsWith("image/")) return { type: "image", source };
  return { type: "file", source, ...(name === undefined ? {} : { filename: name }), mediaType };
}

/** Converts text and attachments. Returns undefined for parts that a model cannot read. */
function toReadablePart(part: ContentPart, fieldPath: string): Part | undefined {
  if (typeof part.text === "string") return part.text === "" ? undefined : { type: "text", text: part.text };
  if (part.inlineData) {
    const { data, mimeType, displayName } = part.inlineData;
    const mediaType = mimeType ?? "application/octet-stream";
    return toAttachmentPart(mediaType, { kind: "inline", data, mediaType }, displayName ?? undefined);
  }
  if (part.fileData) {
    const { fileUri, mimeType, displayName } = part.fileData;
    const mediaType = mimeType ?? "application/octet-stream";
    const fileId = parseFileId(fileUri);
    const source =
      fileId === undefined
        ? parseAttachmentSource(fileUri, `${fieldPath}.fileData.fileUri`, mediaType)
        : { kind: "file" as const, fileId };
    return toAttachmentPart(mediaType, source, displayName ?? undefined);
  }
  if (part.executableCode) return { type: "text", text: part.executableCode.code };
  if (part.codeExecutionResult) return { type: "text", text: part.codeExecutionResult.output ?? "" };
  return undefined;
}

/**
 * Converts the result of a function to the text that the model reads. `response` is `{output}`, `{result}`, `{error}`,
 * `{name, content}` or any other object.
 */
function toFunctionResponseText(response: unknown): { text: string; isError: boolean } {
  if (!isObject(response)) {
    return { text: typeof response === "string" ? response : JSON.stringify(response ?? {}), isError: false };
  }
  const names = Object.keys(response);
  const hasOnlyKey = (name: string) => names.length === 1 && names[0] === name;
  const isError = hasOnlyKey("error");
  const wrapped =
    isError || hasOnlyKey("output") || hasOnlyKey("result") ? response[names[0] ?? ""] : undefined;
  const content = names.length === 2 && "name" in response ? optionalString(response, "content") : undefined;
  const value = wrapped ?? content ?? response;
  return { text: typeof value === "string" ? value : JSON.stringify(value), isError };
}

function toToolMessage(
  functionResponse: NonNullable<ContentPart["functionResponse"]>,
  fieldPath: string,
  calls: PendingToolCalls,
): Message {
  const { text, isError } = toFunctionResponseText(functionResponse.response);
  const attached = (functionResponse.parts ?? []).flatMap((value) => {
    const part = partSchema.safeParse(value);
    return part.success ? (toReadablePart(part.data, fieldPath) ?? []) : [];
  });
  return {
    role: "tool",
    callId: calls.resolve(functionResponse.id, functionResponse.name).callId,
    name: functionResponse.name,
    parts: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...attached],
    ...(isError ? { isError: true } : {}),
  };
}

function toModelMessage(parts: readonly ContentPart[], fieldPath: string, calls: PendingToolCalls): Message {
  const visibleParts: Part[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = "";
  parts.forEach((part, index) => {
    if (part.functionCall) {
      const { name, args } = part.functionCall;
      const id = calls.register(part.functionCall.id, name);
      toolCalls.push({ id, name, arguments: JSON.stringify(args ?? {}) });
    } else if (part.thought === true) reasoning += part.text ?? "";
    else visibleParts.push(...[toReadablePart(part, `${fieldPath}[${index}]`) ?? []].flat());
  });
  return { role: "assistant", parts: visibleParts, toolCalls, ...(reasoning === "" ? {} : { reasoning }) };
}

function toUserMessages(
  parts: readonly ContentPart[],
  fieldPath: string,
  calls: PendingToolCalls,
): Message[] {
  const messages: Message[] = [];
  let visibleParts: Part[] = [];
  const flush = () => {
    if (visibleParts.length > 0) messages.push({ role: "user", parts: visibleParts });
    visibleParts = [];
  };
  parts.forEach((part, index) => {
    const partPath = `${fieldPath}[${index}]`;
    if (part.functionResponse) {
      flush();
      messages.push(toToolMessage(part.functionResponse, partPath, calls));
    } else visibleParts.push(...[toReadablePart(part, partPath) ?? []].flat());
  });
  flush();
  return messages.length === 0 ? [{ role: "user", parts: [] }] : messages;
}

/** Converts one turn to messages. Each function response becomes its own message, in the original order. */
export function toMessages(
  content: z.output<typeof contentSchema>,
  fieldPath: string,
  calls: PendingToolCalls,
): Message[] {
  const parts = content.parts ?? [];
  switch (content.role ?? "user") {
    case "user":
    case "function":
    case "tool":
      return toUserMessages(parts, `${fieldPath}.parts`, calls);
    case "model":
    case "assistant":
      return [toModelMessage(parts, `${fieldPath}.parts`, calls)];
    case "system":
      return [toSystemMessage(content, fieldPath)];
    default:
      throw invalidRequest(`${fieldPath}.role must be user or model`, `${fieldPath}.role`);
  }
}

/** Converts a turn to a system message. */
export function toSystemMessage(content: z.output<typeof contentSchema>, fieldPath: string): Message {
  const parts = (content.parts ?? []).flatMap(
    (part, index) => toReadablePart(part, `${fieldPath}.parts[${index}]`) ?? [],
  );
  return { role: "system", parts };
}
