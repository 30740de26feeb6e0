import * as z from "zod";
import type { JsonObject } from "../../encoding/json.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { bareFile } from "../../files/bare.ts";
import { receiveFile, uploadLimits } from "../../files/receive.ts";
import { forgetRest, restOf } from "../../files/refused-body.ts";
import { beginUpload, cancelUpload, finishUpload, keepPieces, openUpload } from "../../files/resumable.ts";
import type { FileHead, Uploaded } from "../../files/upload.ts";
import { parseWith } from "../../http/json-body.ts";
import type { Context } from "../../platform/context.ts";
import { type Endpoint, forCallers, json } from "../../routing/endpoint.ts";
import { unsupported } from "../shared/fields.ts";
import { styled } from "./field-names.ts";
import { fileResource, fileResourceSchema, NOTHING, originOf } from "./files.ts";
import { ID } from "./names.ts";

const PATHS = ["/upload/v1beta/files", "/upload/v1/files"];

/** Recommended chunk size in bytes: clients should send multiples of it. The gateway also accepts other sizes. */
const GRANULARITY = "262144";

/** Query parameter that names the upload. */
const PARAMETER = "upload_id";

const metadataSchema = styled(() => ({
  file: styled(() => ({
    name: unsupported("cannot be chosen: the file is named by the provider"),
    displayName: z.string().nullish(),
    mimeType: z.string().nullish(),
  })).nullish(),
}));

type Metadata = z.output<typeof metadataSchema>;

/** Returns the description of a file from the request's body and headers. */
function headOf({ file }: Metadata, headers: Headers, mediaType: string): FileHead {
  const displayName = file?.displayName ?? undefined;
  return {
    filename: headers.get("x-goog-upload-file-name") || displayName || "file",
    ...(displayName === undefined ? {} : { displayName }),
    mediaType: file?.mimeType || mediaType || "application/octet-stream",
  };
}

function uploadedFile({ file, kept }: Uploaded, context: Context): JsonObject {
  return { file: fileResource({ ...kept, status: file.status }, context) };
}

const answers = json(() => z.object({ file: fileResourceSchema() }));

/** Returns the words of `X-Goog-Upload-Command`, which are separated by commas. */
function commandsOf(headers: Headers): readonly string[] {
  const words = (headers.get("x-goog-upload-command") ?? "").toLowerCase().split(",");
  return words.map((word) => word.trim()).filter((word) => word !== "");
}

/** Reads a byte count from a header. Returns null if the header is missing. */
function bytesIn(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  if (text === null) return null;
  if (/^\d{1,15}$/.test(text.trim())) return Number(text);
  throw invalidRequest(`${name} must be a number of bytes`, name);
}

/** `X-Goog-Upload-Command: start`: takes the description of the file and answers with the URL for its bytes. */
const begin = forCallers({
  method: "POST",
  path: PATHS,
  when: ({ headers }) => commandsOf(headers).join() === "start",
  summary: "Upload a file, resumable or whole",
  body: metadataSchema,
  optionalBody: true,
  answers: NOTHING,
  handler: async (context, { caller, body }) => {
    const { headers } = context.request;
    const type = headers.get("x-goog-upload-header-content-type") ?? "";
    const size = bytesIn(headers, "x-goog-upload-header-content-length");
    const head = headOf(body, headers, type);
    const name = await beginUpload(context, caller, ID, { ...head, size });
    const address = `${originOf(context)}${context.url.pathname}?${PARAMETER}=${name}&upload_protocol=resumable`;
    return Response.json(
      {},
      {
        headers: {
          "x-goog-upload-url": address,
          "x-goog-upload-control-url": address,
          "x-goog-upload-status": "active",
          "x-goog-upload-chunk-granularity": GRANULARITY,
        },
      },
    );
  },
});

const openedBy = (context: Context) => openUpload(context, context.url.searchParams.get(PARAMETER) ?? "");

/** Requests to the URL of an upload: `upload`, `upload, finalize`, `finalize`, `query` or `cancel`. */
const goOn = forCallers({
  method: "POST",
  path: PATHS,
  when: ({ url }) => url.searchParams.has(PARAMETER),
  summary: "Upload the bytes of a file",
  streamedBody: { mediaType: "application/octet-stream", schema: { type: "string", format: "binary" } },
  answers,
  // Clients send no credential here, only the URL of the upload.
  onBehalfOf: async (context) => (await openedBy(context)).credential,
  refused: (context, error) => forgetRest(restOf(context.request), error),
  handler: async (context, { caller }) => {
    const { headers } = context.request;
    const commands = commandsOf(headers);
    const opened = await openedBy(context);
    const status = (word: string, received: number) => ({
      headers: { "x-goog-upload-status": word, "x-goog-upload-size-received": String(received) },
    });
    const { received } = opened.upload;
    if (commands.includes("cancel")) {
      await cancelUpload(context, opened);
      return Response.json({}, status("cancelled", received));
    }
    if (commands.includes("query")) return Response.json({}, status("active", received));
    const offset = bytesIn(headers, "x-goog-upload-offset");
    if (commands.includes("finalize")) {
      const uploaded = await finishUpload(context, caller, ID, opened, offset ?? received);
      return Response.json(uploadedFile(uploaded, context), status("final", uploaded.kept.bytes));
    }
    if (!commands.includes("upload")) throw unknownCommand(commands);
    if (offset === null) throw invalidRequest("X-Goog-Upload-Offset is missing", "X-Goog-Upload-Offset");
    return Response.json({}, status("active", await keepPieces(context, ID, opened, offset)));
  },
});

function unknownCommand(commands: readonly string[]) {
  const name = "X-Goog-Upload-Command";
  const given = commands.length === 0 ? "is missing" : `${commands.join(", ")} is not known`;
  return invalidRequest(`${name} ${given}: send upload, finalize, query or cancel`, name);
}

/** Uploads a file in one request: metadata and file as `multipart/related`, or the file alone. */
const whole = forCallers({
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
  takesAccount: true,
  refused: (context, error) => forgetRest(restOf(context.request), error),
  handler: async (context, { caller }) => {
    const { headers } = context.request;
    const limits = uploadLimits(context);
    const type = headers.get("x-goog-upload-header-content-type") ?? headers.get("content-type") ?? "";
    const uploaded = await receiveFile(context, caller, ID, async (request) => {
      if (!/^\s*multipart\//i.test(type)) return bareFile(request, limits, headOf({}, headers, type));
      const { relatedFile } = await import("../../files/related.ts");
      return relatedFile(request, limits, (metadata, mediaType) =>
        headOf(parseWith(metadataSchema, metadata), headers, mediaType),
      );
    });
    const status = { "x-goog-upload-status": "final" };
    return Response.json(uploadedFile(uploaded, context), { headers: status });
  },
});

/** Upload endpoints of the content-generation style. */
export const CONTENT_UPLOADS: readonly Endpoint[] = [goOn, begin, whole];
