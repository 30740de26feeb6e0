import * as z from "zod";
import type { Message, Part, ToolCall } from "../../conversation/conversation.ts";
import { isObject } from "../../encoding/json.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { inOtherFormsToo } from "../../routing/other-forms.ts";
import { inlineOrUrl } from "../shared/attachments.ts";
import { jsonObject } from "../shared/fields.ts";
import { optionalString } from "../shared/members.ts";
import type { OpenCalls } from "../shared/open-calls.ts";
import { styled } from "./field-names.ts";

const blobSchema = styled(() => ({
  mimeType: z.string().nullish(),
  data: z.string(),
  displayName: z.string().nullish(),
}));
const fileSchema = styled(() => ({
  mimeType: z.string().nullish(),
  fileUri: z.string(),
  displayName: z.string().nullish(),
}));

const partSchema = styled(() => ({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  inlineData: blobSchema.nullish(),
  fileData: fileSchema.nullish(),
  functionCall: styled(() => ({
    id: z.string().nullish(),
    name: z.string().min(1),
    args: jsonObject.nullish(),
  })).nullish(),
  functionResponse: styled(() => ({
    id: z.string().nullish(),
    name: z.string().min(1),
    response: z.unknown().optional(),
    parts: z.array(z.unknown()).nullish(),
  })).nullish(),
  executableCode: styled(() => ({ language: z.string().nullish(), code: z.string() })).nullish(),
  codeExecutionResult: styled(() => ({
    outcome: z.string().nullish(),
    output: z.string().nullish(),
  })).nullish(),
}));

type ContentPart = z.output<typeof partSchema>;

const shortPartSchema = inOtherFormsToo(
  partSchema,
  () => [z.string()],
  (part) => (typeof part === "string" ? { text: part } : part),
);

const partsSchema = inOtherFormsToo(
  z.array(shortPartSchema),
  () => [partSchema],
  (value) => (isObject(value) ? [value] : value),
);

/** One turn of a conversation: `{role, parts}`. */
export const contentSchema = styled(() => ({ role: z.string().nullish(), parts: partsSchema.nullish() }));

/** The turns of a conversation. A single turn may be sent without an array. */
export const contentsSchema = inOtherFormsToo(
  z.array(contentSchema).min(1),
  () => [contentSchema, z.string()],
  (value) => (isObject(value) ? [value] : typeof value === "string" ? [{ parts: [{ text: value }] }] : value),
);

/** `systemInstruction`: a turn whose role is ignored, or plain text. */
export const systemSchema = inOtherFormsToo(
  contentSchema,
  () => [z.string()],
  (value) => (typeof value === "string" ? { parts: [{ text: value }] } : value),
);

/**
 * Matches the URI that an upload returned. It accepts any host, because a gateway behind a proxy has several host names.
 */
const OWN_URI = /^https?:\/\/[^/?#]+\/v1beta\/files\/([^/?#]+)$/i;

/** Returns the id of an uploaded file that a URI names, or undefined if the URI is on another service. */
function fileIdIn(uri: string): string | undefined {
  const own = OWN_URI.exec(uri)?.[1];
  if (own !== undefined || /^(?:https?|data):/i.test(uri)) return own;
  return uri.replace(/^files\//, "");
}

function attachment(
  mediaType: string,
  source: ReturnType<typeof inlineOrUrl>,
  name: string | undefined,
): Part {
  if (mediaType.startsWith("image/")) return { type: "image", source };
  return { type: "file", source, ...(name === undefined ? {} : { filename: name }), mediaType };
}

/** Converts text and attachments. Returns undefined for parts that a model cannot read. */
function readable(part: ContentPart, where: string): Part | undefined {
  if (typeof part.text === "string") return part.text === "" ? undefined : { type: "text", text: part.text };
  if (part.inlineData) {
    const { data, mimeType, displayName } = part.inlineData;
    const mediaType = mimeType ?? "application/octet-stream";
    return attachment(mediaType, { kind: "inline", data, mediaType }, displayName ?? undefined);
  }
  if (part.fileData) {
    const { fileUri, mimeType, displayName } = part.fileData;
    const mediaType = mimeType ?? "application/octet-stream";
    const fileId = fileIdIn(fileUri);
    const source =
      fileId === undefined
        ? inlineOrUrl(fileUri, `${where}.fileData.fileUri`, mediaType)
        : { kind: "file" as const, fileId };
    return attachment(mediaType, source, displayName ?? undefined);
  }
  if (part.executableCode) return { type: "text", text: part.executableCode.code };
  if (part.codeExecutionResult) return { type: "text", text: part.codeExecutionResult.output ?? "" };
  return undefined;
}

/**
 * Converts the result of a function to the text that the model reads. `response` is `{output}`, `{result}`, `{error}`,
 * `{name, content}` or any other object.
 */
function responseText(response: unknown): { text: string; isError: boolean } {
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

function toolMessage(
  declared: NonNullable<ContentPart["functionResponse"]>,
  where: string,
  calls: OpenCalls,
): Message {
  const { text, isError } = responseText(declared.response);
  const attached = (declared.parts ?? []).flatMap((value) => {
    const part = partSchema.safeParse(value);
    return part.success ? (readable(part.data, where) ?? []) : [];
  });
  return {
    role: "tool",
    callId: calls.answer(declared.id, declared.name).callId,
    name: declared.name,
    parts: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...attached],
    ...(isError ? { isError: true } : {}),
  };
}

function modelMessage(parts: readonly ContentPart[], where: string, calls: OpenCalls): Message {
  const shown: Part[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning = "";
  parts.forEach((part, index) => {
    if (part.functionCall) {
      const { name, args } = part.functionCall;
      const id = calls.call(part.functionCall.id, name);
      toolCalls.push({ id, name, arguments: JSON.stringify(args ?? {}) });
    } else if (part.thought === true) reasoning += part.text ?? "";
    else shown.push(...[readable(part, `${where}[${index}]`) ?? []].flat());
  });
  return { role: "assistant", parts: shown, toolCalls, ...(reasoning === "" ? {} : { reasoning }) };
}

function userMessages(parts: readonly ContentPart[], where: string, calls: OpenCalls): Message[] {
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
      messages.push(toolMessage(part.functionResponse, at, calls));
    } else shown.push(...[readable(part, at) ?? []].flat());
  });
  flush();
  return messages.length === 0 ? [{ role: "user", parts: [] }] : messages;
}

/** Converts one turn to messages. Each function response becomes its own message, in the original order. */
export function toMessages(
  content: z.output<typeof contentSchema>,
  where: string,
  calls: OpenCalls,
): Message[] {
  const parts = content.parts ?? [];
  switch (content.role ?? "user") {
    case "user":
    case "function":
    case "tool":
      return userMessages(parts, `${where}.parts`, calls);
    case "model":
    case "assistant":
      return [modelMessage(parts, `${where}.parts`, calls)];
    case "system":
      return [systemMessage(content, where)];
    default:
      throw invalidRequest(`${where}.role must be user or model`, `${where}.role`);
  }
}

/** Converts a turn to a system message. */
export function systemMessage(content: z.output<typeof contentSchema>, where: string): Message {
  const parts = (content.parts ?? []).flatMap(
    (part, index) => readable(part, `${where}.parts[${index}]`) ?? [],
  );
  return { role: "system", parts };
}
