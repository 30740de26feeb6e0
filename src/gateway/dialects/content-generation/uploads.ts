import * as z from "zod";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { callerEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { readRawFile } from "../../files/raw-file.ts";
import { receiveFile, uploadLimits } from "../../files/receive.ts";
import {
  cancelUpload,
  finishUpload,
  openUpload,
  startUpload,
  storePieces,
} from "../../files/resumable-upload.ts";
import { discardUnreadBody, getUnreadBody } from "../../files/unread-body.ts";
import type { FileHead, UploadedFile } from "../../files/upload.ts";
import { unsupportedField } from "../shared/field-schemas.ts";
import { camelOrSnakeObject } from "./field-names.ts";
import { EMPTY_ANSWER, fileResourceSchema, getPublicOrigin, toFileResource } from "./files.ts";
import { DIALECT_ID } from "./names.ts";

const PATHS = ["/upload/v1beta/files", "/upload/v1/files"];

/** Recommended chunk size in bytes: clients should send multiples of it. The gateway also accepts other sizes. */
const CHUNK_GRANULARITY = "262144";

/** Query parameter that names the upload. */
const UPLOAD_ID_PARAMETER = "upload_id";

const metadataSchema = camelOrSnakeObject(() => ({
  file: camelOrSnakeObject(() => ({
    name: unsupportedField("cannot be chosen: the file is named by the provider"),
    displayName: z.string().nullish(),
    mimeType: z.string().nullish(),
  })).nullish(),
}));

type Metadata = z.output<typeof metadataSchema>;

/** Returns the description of a file from the request's body and headers. */
function toFileHead({ file }: Metadata, headers: Headers, mediaType: string): FileHead {
  const displayName = file?.displayName ?? undefined;
  return {
    filename: headers.get("x-goog-upload-file-name") || displayName || "file",
    ...(displayName === undefined ? {} : { displayName }),
    mediaType: file?.mimeType || mediaType || "application/octet-stream",
  };
}

function toUploadAnswer({ file, record }: UploadedFile, context: Context): JsonObject {
  return { file: toFileResource({ ...record, status: file.status }, context) };
}

const answers = jsonResponse(() => z.object({ file: fileResourceSchema() }));

/** Returns the words of `X-Goog-Upload-Command`, which are separated by commas. */
function parseCommands(headers: Headers): readonly string[] {
  const commands = (headers.get("x-goog-upload-command") ?? "").toLowerCase().split(",");
  return commands.map((command) => command.trim()).filter((command) => command !== "");
}

/** Reads a byte count from a header. Returns null if the header is missing. */
function parseByteCount(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  if (text === null) return null;
  if (/^\d{1,15}$/.test(text.trim())) return Number(text);
  throw invalidRequest(`${name} must be a number of bytes`, name);
}

/** `X-Goog-Upload-Command: start`: takes the description of the file and answers with the URL for its bytes. */
const startEndpoint = callerEndpoint({
  method: "POST",
  path: PATHS,
  when: ({ headers }) => parseCommands(headers).join() === "start",
  summary: "Upload a file, resumable or whole",
  body: metadataSchema,
  optionalBody: true,
  answers: EMPTY_ANSWER,
  handler: async (context, { caller, body }) => {
    const { headers } = context.request;
    const type = headers.get("x-goog-upload-header-content-type") ?? "";
    const size = parseByteCount(headers, "x-goog-upload-header-content-length");
    const head = toFileHead(body, headers, type);
    const name = await startUpload(context, caller, DIALECT_ID, { ...head, size });
    const address = `${getPublicOrigin(context)}${context.url.pathname}?${UPLOAD_ID_PARAMETER}=${name}&upload_protocol=resumable`;
    return Response.json(
      {},
      {
        headers: {
          "x-goog-upload-url": address,
          "x-goog-upload-control-url": address,
          "x-goog-upload-status": "active",
          "x-goog-upload-chunk-granularity": CHUNK_GRANULARITY,
        },
      },
    );
  },
});

const openRequestedUpload = (context: Context) =>
  openUpload(context, context.url.searchParams.get(UPLOAD_ID_PARAMETER) ?? "");

/** Requests to the URL of an upload: `upload`, `upload, finalize`, `finalize`, `query` or `cancel`. */
const continueEndpoint = callerEndpoint({
  method: "POST",
  path: PATHS,
  when: ({ url }) => url.searchParams.has(UPLOAD_ID_PARAMETER),
  summary: "Upload the bytes of a file",
  streamedBody: { mediaType: "application/octet-stream", schema: { type: "string", format: "binary" } },
  answers,
  // Clients send no credential here, only the URL of the upload.
  onBehalfOf: async (context) => (await openRequestedUpload(context)).credential,
  onAuthenticationFailed: (context, error) => discardUnreadBody(getUnreadBody(context.request), error),
  handler: async (context, { caller }) => {
    const { headers } = context.request;
    const commands = parseCommands(headers);
    const opened = await openRequestedUpload(context);
    const status = (uploadStatus: string, received: number) => ({
      headers: { "x-goog-upload-status": uploadStatus, "x-goog-upload-size-received": String(received) },
    });
    const { received } = opened.upload;
    if (commands.includes("cancel")) {
      await cancelUpload(context, opened);
      return Response.json({}, status("cancelled", received));
    }
    if (commands.includes("query")) return Response.json({}, status("active", received));
    const offset = parseByteCount(headers, "x-goog-upload-offset");
    if (commands.includes("finalize")) {
      const uploaded = await finishUpload(context, caller, DIALECT_ID, opened, offset ?? received);
      return Response.json(toUploadAnswer(uploaded, context), status("final", uploaded.record.bytes));
    }
    if (!commands.includes("upload")) throw unknownCommandError(commands);
    if (offset === null) throw invalidRequest("X-Goog-Upload-Offset is missing", "X-Goog-Upload-Offset");
    return Response.json({}, status("active", await storePieces(context, DIALECT_ID, opened, offset)));
  },
});

function unknownCommandError(commands: readonly string[]) {
  const name = "X-Goog-Upload-Command";
  const problem = commands.length === 0 ? "is missing" : `${commands.join(", ")} is not known`;
  return invalidRequest(`${name} ${problem}: send upload, finalize, query or cancel`, name);
}

/** Uploads a file in one request: metadata and file as `multipart/related`, or the file alone. */
const wholeFileEndpoint = callerEndpoint({
  method: "POST",
  path: PATHS,
  summary: "Upload a file, resumable or whole",
  streamedBody: {
    mediaType: "multipart/related",
    schema: {
      type: "object",
      properties: {
        metadata: { type: "object", properties: { file: { type: "object" } } },
        file: { type: "string", contentMediaType: "application/octet-stream" },
      },
    },
  },
  answers,
  onAuthenticationFailed: (context, error) => discardUnreadBody(getUnreadBody(context.request), error),
  handler: async (context, { caller }) => {
    const { headers } = context.request;
    const limits = uploadLimits(context);
    const type = headers.get("x-goog-upload-header-content-type") ?? headers.get("content-type") ?? "";
    const uploaded = await receiveFile(context, caller, DIALECT_ID, async (request) => {
      if (!/^\s*multipart\//i.test(type)) return readRawFile(request, limits, toFileHead({}, headers, type));
      const { readRelatedFile } = await import("../../files/related-file.ts");
      return readRelatedFile(request, limits, (metadata, mediaType) =>
        toFileHead(parseWith(metadataSchema, metadata), headers, mediaType),
      );
    });
    const status = { "x-goog-upload-status": "final" };
    return Response.json(toUploadAnswer(uploaded, context), { headers: status });
  },
});

/** Upload endpoints of the content-generation style. */
export const CONTENT_UPLOADS: readonly Endpoint[] = [continueEndpoint, startEndpoint, wholeFileEndpoint];
