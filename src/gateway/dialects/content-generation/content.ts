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
  const own = UPLOADED_FILE_URI.exec(uri)?.[1];
  if (own !== undefined || /^(?:https?|data):/i.test(uri)) return own;
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
function toReadablePart(part: ContentPart, where: string): Part | undefined {
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
        ? parseAttachmentSource(fileUri, `${where}.fileData.fileUri`, mediaType)
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
  const only = (name: string) => names.length === 1 && names[0] === name;
  const isError = only("error");
  const wrapped = isError || only("output") || only("result") ? response[names[0] ?? ""] : undefined;
  const content = names.length === 2 && "name" in response ? optionalString(response, "content") : undefined;
  const value = wrapped ?? content ?? response;
  return { text: typeof value === "string" ? value : JSON.stringify(value), isError };
}

function toToolMessage(
  declared: NonNullable<ContentPart["functionResponse"]>,
  where: string,
  calls: PendingToolCalls,
): Message {
  const { text, isError } = toFunctionResponseText(declared.response);
  const attached = (declared.parts ?? []).flatMap((value) => {
    const part = partSchema.safeParse(value);
    return part.success ? (toReadablePart(part.data, where) ?? []) : [];
  });
  return {
    role: "tool",
    callId: calls.resolve(declared.id, declared.name).callId,
    name: declared.name,
    parts: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...attached],
    ...(isError ? { isError: true } : {}),
  };
}

function toModelMessage(parts: readonly ContentPart[], where: string, calls: PendingToolCalls): Message {
  const shown: Part[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = "";
  parts.forEach((part, index) => {
    if (part.functionCall) {
      const { name, args } = part.functionCall;
      const id = calls.register(part.functionCall.id, name);
      toolCalls.push({ id, name, arguments: JSON.stringify(args ?? {}) });
    } else if (part.thought === true) reasoning += part.text ?? "";
    else shown.push(...[toReadablePart(part, `${where}[${index}]`) ?? []].flat());
  });
  return { role: "assistant", parts: shown, toolCalls, ...(reasoning === "" ? {} : { reasoning }) };
}

function toUserMessages(parts: readonly ContentPart[], where: string, calls: PendingToolCalls): Message[] {
  const messages: Message[] = [];
  let shown: Part[] = [];
  const flush = () => {
    if (shown.length > 0) messages.push({ role: "user", parts: shown });
    shown = [];
  };
  parts.forEach((part, index) => {
    const at = `${where}[${index}]`;
    if (part.functionResponse) {
      flush();
      messages.push(toToolMessage(part.functionResponse, at, calls));
    } else shown.push(...[toReadablePart(part, at) ?? []].flat());
  });
  flush();
  return messages.length === 0 ? [{ role: "user", parts: [] }] : messages;
}

/** Converts one turn to messages. Each function response becomes its own message, in the original order. */
export function toMessages(
  content: z.output<typeof contentSchema>,
  where: string,
  calls: PendingToolCalls,
): Message[] {
  const parts = content.parts ?? [];
  switch (content.role ?? "user") {
    case "user":
    case "function":
    case "tool":
      return toUserMessages(parts, `${where}.parts`, calls);
    case "model":
    case "assistant":
      return [toModelMessage(parts, `${where}.parts`, calls)];
    case "system":
      return [toSystemMessage(content, where)];
    default:
      throw invalidRequest(`${where}.role must be user or model`, `${where}.role`);
  }
}

/** Converts a turn to a system message. */
export function toSystemMessage(content: z.output<typeof contentSchema>, where: string): Message {
  const parts = (content.parts ?? []).flatMap(
    (part, index) => toReadablePart(part, `${where}.parts[${index}]`) ?? [],
  );
  return { role: "system", parts };
}
