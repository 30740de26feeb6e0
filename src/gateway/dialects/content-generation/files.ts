import * as z from "zod";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { FileRecord } from "../../../core/ports/files.ts";
import { respondJsonWithinBudget } from "../../../core/routing/budgeted-response.ts";
import {
  type CallerDeclaration,
  callerEndpoint,
  type Endpoint,
  jsonResponse,
  type ResponseSchemas,
} from "../../../core/routing/endpoint.ts";
import { deleteCallerFile, listCallerFiles, paginate, readCallerFile } from "../../files/caller-files.ts";
import { DIALECT_ID, isContentGenerationClient } from "./names.ts";

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 10;

const toIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/**
 * Returns the origin under which the client reached the gateway. Behind a proxy that terminates TLS, the scheme of the
 * request's own URL is wrong.
 */
export function getPublicOrigin({ request, url }: Pick<Context, "request" | "url">): string {
  const secure = request.headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https";
  return secure ? `https://${url.host}` : url.origin;
}

/** Maps the provider's file status to `state` of this style. */
function toFileState(status: string | undefined): string {
  switch (status) {
    case "uploaded":
    case "pending":
    case "parsing":
    case "processing":
      return "PROCESSING";
    case "error":
    case "failed":
      return "FAILED";
    default:
      return "ACTIVE";
  }
}

/** Builds the file resource of this style. */
export function toFileResource(record: FileRecord, context: Pick<Context, "request" | "url">): object {
  const created = toIsoTime(record.createdAt * 1000);
  return {
    name: `files/${record.id}`,
    displayName: record.displayName ?? record.filename,
    mimeType: record.mediaType || "application/octet-stream",
    sizeBytes: String(record.bytes),
    createTime: created,
    updateTime: created,
    ...(record.expiresAt === 0 ? {} : { expirationTime: toIsoTime(record.expiresAt) }),
    uri: `${getPublicOrigin(context)}/v1beta/files/${record.id}`,
    state: toFileState(record.status),
    source: "UPLOADED",
  };
}

/** Schema of {@link toFileResource}. */
export const fileResourceSchema = () =>
  z.object({
    name: z.string(),
    displayName: z.string(),
    mimeType: z.string(),
    sizeBytes: z.string(),
    createTime: z.string(),
    updateTime: z.string(),
    expirationTime: z.string().optional(),
    uri: z.string(),
    state: z.enum(["PROCESSING", "ACTIVE", "FAILED"]),
    source: z.literal("UPLOADED"),
  });

/** Answer with an empty object. */
export const EMPTY_ANSWER: ResponseSchemas = jsonResponse(() => ({ type: "object", maxProperties: 0 }));

/** Declares an endpoint under `/v1beta`, and under `/v1` for SDKs of this style. */
function declareOnBothPaths<Query>(
  path: string,
  declaration: Omit<CallerDeclaration<unknown, Query>, "path" | "when">,
): Endpoint[] {
  return [
    callerEndpoint({ ...declaration, path: `/v1beta/files${path}` }),
    callerEndpoint({ ...declaration, path: `/v1/files${path}`, when: isContentGenerationClient }),
  ];
}

/** Lists the newest files first. A page token is the id of the last file of the previous page. */
const listFiles = declareOnBothPaths("", {
  method: "GET",
  summary: "List the uploaded files",
  query: lazyLooseObject(() => ({
    pageSize: z.coerce.number().int().min(0).default(DEFAULT_PAGE_SIZE),
    pageToken: z.string().optional(),
  })),
  answers: jsonResponse(() =>
    z.object({
      files: z.array(fileResourceSchema()).optional(),
      nextPageToken: z.string().optional(),
    }),
  ),
  handler: async (context, { caller, query }) => {
    const size = Math.min(query.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
    const all = await listCallerFiles({ context, caller, style: DIALECT_ID });
    const { data, hasMore } = paginate(all.toReversed(), query.pageToken || undefined, size);
    const last = data.at(-1);
    return respondJsonWithinBudget(context, {
      ...(data.length === 0 ? {} : { files: data.map((record) => toFileResource(record, context)) }),
      ...(hasMore && last !== undefined ? { nextPageToken: last.id } : {}),
    });
  },
});

const readFile = declareOnBothPaths("/:file_id", {
  method: "GET",
  summary: "Read a file's metadata",
  answers: jsonResponse(fileResourceSchema),
  handler: async (context, { caller, params }) => {
    const { file, record } = await readCallerFile(
      { context, caller, style: DIALECT_ID },
      params["file_id"] ?? "",
    );
    return Response.json(toFileResource({ ...record, status: file.status }, context));
  },
});

const deleteFile = declareOnBothPaths("/:file_id", {
  method: "DELETE",
  summary: "Delete a file",
  answers: EMPTY_ANSWER,
  handler: async (context, { caller, params }) => {
    await deleteCallerFile({ context, caller, style: DIALECT_ID }, params["file_id"] ?? "");
    return Response.json({});
  },
});

/** File endpoints of the content-generation style. All styles share the same files. */
export const CONTENT_FILES: readonly Endpoint[] = [...listFiles, ...readFile, ...deleteFile];
