import * as z from "zod";
import { lazyLooseObject } from "../encoding/lazy-schema.ts";
import {
  deleteCallersFile,
  listCallersFiles,
  pageOf,
  readCallersContent,
  readCallersFile,
} from "../files/callers-files.ts";
import { FORM_SCHEMA, receiveForm } from "../files/receive.ts";
import { forgetRest, restOf } from "../files/refused-body.ts";
import { type Endpoint, forCallers, json } from "../routing/endpoint.ts";
import { heldJson } from "../routing/held-answer.ts";
import { fileObject, fileSchema, listedFileObject } from "./file-object.ts";

/** Name of these requests in the queue's status and in the log. */
const STYLE = "files";

const PATHS = ["/v1/files", "/files"];
const FILE_PATHS = PATHS.map((path) => `${path}/:file_id`);

/** Maximum and default number of files in one page. */
const MAX_PAGE = 10_000;

/** `POST /v1/files` (contract). */
const uploadFile = forCallers({
  method: "POST",
  path: PATHS,
  summary: "Upload a file",
  streamedBody: { mediaType: "multipart/form-data", schema: FORM_SCHEMA },
  answers: json(fileSchema),
  takesAccount: true,
  handler: async (context, { caller }) => {
    const { file, kept } = await receiveForm(context, caller, STYLE);
    return Response.json(fileObject(file, kept));
  },
  refused: (context, error) => forgetRest(restOf(context.request), error),
});

/** `GET /v1/files/{file_id}` (contract). Asks the account that has the file. */
const readFile = forCallers({
  method: "GET",
  path: FILE_PATHS,
  summary: "Read a file's status",
  answers: json(fileSchema),
  takesAccount: true,
  handler: async (context, { caller, params }) => {
    const { file, kept } = await readCallersFile({ context, caller, style: STYLE }, params["file_id"] ?? "");
    return Response.json(fileObject(file, kept));
  },
});

/** `GET /v1/files`: the caller's own files with their last known status. The default order is newest first. */
const listFiles = forCallers({
  method: "GET",
  path: PATHS,
  summary: "List the uploaded files",
  query: lazyLooseObject(() => ({
    purpose: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(MAX_PAGE),
    order: z.enum(["asc", "desc"]).default("desc"),
    after: z.string().optional(),
  })),
  answers: json(() =>
    z.object({
      object: z.literal("list"),
      data: z.array(fileSchema()),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    }),
  ),
  handler: async (context, { caller, query: { purpose, limit, order, after } }) => {
    const all = await listCallersFiles({ context, caller, style: STYLE });
    const wanted = purpose === undefined ? all : all.filter((file) => file.purpose === purpose);
    const { data, hasMore } = pageOf(order === "asc" ? wanted : wanted.toReversed(), after, limit);
    return heldJson(context, {
      object: "list",
      data: data.map(listedFileObject),
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: hasMore,
    });
  },
});

/** `DELETE /v1/files/{file_id}`. */
const deleteFile = forCallers({
  method: "DELETE",
  path: FILE_PATHS,
  summary: "Delete a file",
  answers: json(() => z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })),
  handler: async (context, { caller, params }) => {
    const id = params["file_id"] ?? "";
    await deleteCallersFile({ context, caller, style: STYLE }, id);
    return Response.json({ id, object: "file", deleted: true });
  },
});

/** `GET /v1/files/{file_id}/content`: always an error, because the gateway does not store the content. */
const readContent = forCallers({
  method: "GET",
  path: FILE_PATHS.map((path) => `${path}/content`),
  summary: "Read a file's content: always an error, as it is not kept",
  answers: () => ({ "application/octet-stream": { type: "string" } }),
  handler: (context, { caller, params }) =>
    readCallersContent({ context, caller, style: STYLE }, params["file_id"] ?? ""),
});

/** File endpoints of the standard style. */
export const FILES: readonly Endpoint[] = [uploadFile, readFile, listFiles, deleteFile, readContent];
