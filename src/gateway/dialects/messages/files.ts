import * as z from "zod";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import type { FileRecord } from "../../../core/ports/files.ts";
import { respondJsonWithinBudget } from "../../../core/routing/budgeted-response.ts";
import {
  type CallerDeclaration,
  callerEndpoint,
  type Endpoint,
  jsonResponse,
} from "../../../core/routing/endpoint.ts";
import {
  deleteCallerFile,
  listCallerFiles,
  paginate,
  readCallerFile,
  readCallerFileContent,
} from "../../files/caller-files.ts";
import { receiveForm } from "../../files/receive.ts";
import { discardUnreadBody, getUnreadBody } from "../../files/unread-body.ts";
import { UPLOAD_FORM_SCHEMA } from "../../files/upload-form.ts";
import { DIALECT_ID, isMessagesClient, PREFIXES } from "./names.ts";

const MAX_PAGE_SIZE = 1000;
const DEFAULT_PAGE_SIZE = 20;

const toIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Builds the file metadata of this style. */
function toFileMetadata(record: FileRecord): Record<string, unknown> {
  return {
    id: record.id,
    type: "file",
    filename: record.filename,
    mime_type: record.mediaType || "application/octet-stream",
    size_bytes: record.bytes,
    created_at: toIsoTime(record.createdAt * 1000),
    expires_at: record.expiresAt === 0 ? null : toIsoTime(record.expiresAt),
    downloadable: false,
  };
}

const metadataSchema = () =>
  z.object({
    id: z.string(),
    type: z.literal("file"),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    downloadable: z.literal(false),
  });

/** Declares an endpoint under the style's prefixes, and under `/v1` for SDKs of this style only. */
function declareOnBothPaths<Query>(
  path: string,
  declaration: Omit<CallerDeclaration<unknown, Query>, "path" | "when">,
): Endpoint[] {
  return [
    callerEndpoint({ ...declaration, path: PREFIXES.map((prefix) => `${prefix}/v1/files${path}`) }),
    callerEndpoint({ ...declaration, path: `/v1/files${path}`, when: isMessagesClient }),
  ];
}

const uploadFile = declareOnBothPaths("", {
  method: "POST",
  summary: "Upload a file for messages",
  streamedBody: { mediaType: "multipart/form-data", schema: UPLOAD_FORM_SCHEMA },
  answers: jsonResponse(metadataSchema),
  handler: async (context, { caller }) =>
    Response.json(toFileMetadata((await receiveForm(context, caller, DIALECT_ID)).record)),
  onAuthenticationFailed: (context, error) => discardUnreadBody(getUnreadBody(context.request), error),
});

const cursor = () => z.string().optional();

/**
 * Lists the newest files first. `page` and `after_id` continue after a file, `before_id` stops before a file, `ids` selects
 * files.
 */
const listFiles = declareOnBothPaths("", {
  method: "GET",
  summary: "List the files for messages",
  query: lazyLooseObject(() => ({
    limit: z.coerce.number().int().min(1).max(MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE),
    page: cursor(),
    after_id: cursor(),
    before_id: cursor(),
  })),
  answers: jsonResponse(() =>
    z.object({
      data: z.array(metadataSchema()),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
      next_page: z.string().nullable(),
    }),
  ),
  handler: async (context, { caller, query }) => {
    const { limit, page, after_id: after = page, before_id: before } = query;
    const requestedIds = new Set(["ids", "ids[]"].flatMap((name) => context.url.searchParams.getAll(name)));
    const all = await listCallerFiles({ context, caller, style: DIALECT_ID });
    const oldestFirst = all.filter(({ id }) => requestedIds.size === 0 || requestedIds.has(id));
    const listing =
      before === undefined
        ? paginate(oldestFirst.toReversed(), after, limit)
        : paginate(oldestFirst, before, limit);
    const data = before === undefined ? listing.data : listing.data.toReversed();
    const last = data.at(-1)?.id ?? null;
    return respondJsonWithinBudget(context, {
      data: data.map(toFileMetadata),
      first_id: data[0]?.id ?? null,
      last_id: last,
      has_more: listing.hasMore,
      next_page: listing.hasMore && before === undefined ? last : null,
    });
  },
});

const readFile = declareOnBothPaths("/:file_id", {
  method: "GET",
  summary: "Read a file's metadata",
  answers: jsonResponse(metadataSchema),
  handler: async (context, { caller, params }) => {
    const { record } = await readCallerFile({ context, caller, style: DIALECT_ID }, params["file_id"] ?? "");
    return Response.json(toFileMetadata(record));
  },
});

const deleteFile = declareOnBothPaths("/:file_id", {
  method: "DELETE",
  summary: "Delete a file",
  answers: jsonResponse(() => z.object({ id: z.string(), type: z.literal("file_deleted") })),
  handler: async (context, { caller, params }) => {
    const id = params["file_id"] ?? "";
    await deleteCallerFile({ context, caller, style: DIALECT_ID }, id);
    return Response.json({ id, type: "file_deleted" });
  },
});

const readContent = declareOnBothPaths("/:file_id/content", {
  method: "GET",
  summary: "Read a file's content, if the provider returns it",
  answers: () => ({ "application/octet-stream": { type: "string" } }),
  handler: (context, { caller, params }) =>
    readCallerFileContent({ context, caller, style: DIALECT_ID }, params["file_id"] ?? ""),
});

/** File endpoints of the message style. All styles share the same files. */
export const MESSAGE_FILES: readonly Endpoint[] = [
  ...uploadFile,
  ...listFiles,
  ...readFile,
  ...deleteFile,
  ...readContent,
];
