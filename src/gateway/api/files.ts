import * as z from "zod";
import { FILES_STYLE } from "../../core/config/styles.ts";
import { lazyLooseObject } from "../../core/encoding/lazy-schema.ts";
import { respondJsonWithinBudget } from "../../core/routing/budgeted-response.ts";
import { callerEndpoint, type Endpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { UPLOAD_FORM_SCHEMA } from "../files/upload-form.ts";
import { fileObjectSchema, toFileObject, toListedFileObject } from "./file-object.ts";

/** Few isolates serve files. */
const loadOperations = () => import("../files/operations.ts");

const PATHS = ["/v1/files", "/files"];
const FILE_PATHS = PATHS.map((path) => `${path}/:file_id`);

/** Maximum and default number of files in one page. */
const MAX_PAGE_SIZE = 10_000;

/** `POST /v1/files` (docs/contract/files.md). */
const uploadFile = callerEndpoint({
  method: "POST",
  path: PATHS,
  summary: "Upload a file",
  streamedBody: { mediaType: "multipart/form-data", schema: UPLOAD_FORM_SCHEMA },
  answers: jsonResponse(fileObjectSchema),
  handler: async (context, { caller }) => {
    const { receiveForm } = await loadOperations();
    const { file, record } = await receiveForm(context, caller, FILES_STYLE);
    return Response.json(toFileObject(file, record));
  },
  onAuthenticationFailed: async (context, error) => {
    const { discardUnreadBody, getUnreadBody } = await loadOperations();
    await discardUnreadBody(getUnreadBody(context.request), error);
  },
});

/** `GET /v1/files/{file_id}` (docs/contract/files.md). Asks the account that has the file. */
const readFile = callerEndpoint({
  method: "GET",
  path: FILE_PATHS,
  summary: "Read a file's status",
  answers: jsonResponse(fileObjectSchema),
  handler: async (context, { caller, params }) => {
    const { readCallerFile } = await loadOperations();
    const { file, record } = await readCallerFile(
      { context, caller, style: FILES_STYLE },
      params["file_id"] ?? "",
    );
    return Response.json(toFileObject(file, record));
  },
});

/** `GET /v1/files`: the caller's own files with their last known status. The default order is newest first. */
const listFiles = callerEndpoint({
  method: "GET",
  path: PATHS,
  summary: "List the uploaded files",
  query: lazyLooseObject(() => ({
    purpose: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(MAX_PAGE_SIZE).default(MAX_PAGE_SIZE),
    order: z.enum(["asc", "desc"]).default("desc"),
    after: z.string().optional(),
  })),
  answers: jsonResponse(() =>
    z.object({
      object: z.literal("list"),
      data: z.array(fileObjectSchema()),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    }),
  ),
  handler: async (context, { caller, query: { purpose, limit, order, after } }) => {
    const { listCallerFiles, paginate } = await loadOperations();
    const all = await listCallerFiles({ context, caller, style: FILES_STYLE });
    const matching = purpose === undefined ? all : all.filter((file) => file.purpose === purpose);
    const { data, hasMore } = paginate(order === "asc" ? matching : matching.toReversed(), after, limit);
    return respondJsonWithinBudget(context, {
      object: "list",
      data: data.map(toListedFileObject),
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: hasMore,
    });
  },
});

/** `DELETE /v1/files/{file_id}`. */
const deleteFile = callerEndpoint({
  method: "DELETE",
  path: FILE_PATHS,
  summary: "Delete a file",
  answers: jsonResponse(() =>
    z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) }),
  ),
  handler: async (context, { caller, params }) => {
    const id = params["file_id"] ?? "";
    const { deleteCallerFile } = await loadOperations();
    await deleteCallerFile({ context, caller, style: FILES_STYLE }, id);
    return Response.json({ id, object: "file", deleted: true });
  },
});

/** `GET /v1/files/{file_id}/content`: as the provider sends it. */
const readContent = callerEndpoint({
  method: "GET",
  path: FILE_PATHS.map((path) => `${path}/content`),
  summary: "Read a file's content, if the provider returns it",
  answers: () => ({ "application/octet-stream": { type: "string" } }),
  handler: async (context, { caller, params }) => {
    const { readCallerFileContent } = await loadOperations();
    return readCallerFileContent({ context, caller, style: FILES_STYLE }, params["file_id"] ?? "");
  },
});

/** File endpoints of the standard style. */
export const FILE_ENDPOINTS: readonly Endpoint[] = [uploadFile, readFile, listFiles, deleteFile, readContent];
