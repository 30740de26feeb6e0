import * as z from "zod";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import {
  deleteCallersFile,
  listCallersFiles,
  pageOf,
  readCallersContent,
  readCallersFile,
} from "../../files/callers-files.ts";
import { FORM_SCHEMA, receiveForm } from "../../files/receive.ts";
import { forgetRest, restOf } from "../../files/refused-body.ts";
import type { KeptFile } from "../../platform/files.ts";
import { type CallerDeclaration, type Endpoint, forCallers, json } from "../../routing/endpoint.ts";
import { heldJson } from "../../routing/held-answer.ts";
import { ID, PREFIXES, speaksMessages } from "./names.ts";

const MAX_PAGE = 1000;
const USUAL_PAGE = 20;

const time = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Builds the file metadata of this style. */
function metadata(kept: KeptFile): Record<string, unknown> {
  return {
    id: kept.id,
    type: "file",
    filename: kept.filename,
    mime_type: kept.mediaType || "application/octet-stream",
    size_bytes: kept.bytes,
    created_at: time(kept.createdAt * 1000),
    expires_at: kept.expiresAt === 0 ? null : time(kept.expiresAt),
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
function shared<Query>(
  path: string,
  declaration: Omit<CallerDeclaration<unknown, Query>, "path" | "when">,
): Endpoint[] {
  return [
    forCallers({ ...declaration, path: PREFIXES.map((prefix) => `${prefix}/v1/files${path}`) }),
    forCallers({ ...declaration, path: `/v1/files${path}`, when: speaksMessages }),
  ];
}

const upload = shared("", {
  method: "POST",
  summary: "Upload a file for messages",
  streamedBody: { mediaType: "multipart/form-data", schema: FORM_SCHEMA },
  answers: json(metadataSchema),
  takesAccount: true,
  handler: async (context, { caller }) =>
    Response.json(metadata((await receiveForm(context, caller, ID)).kept)),
  refused: (context, error) => forgetRest(restOf(context.request), error),
});

const cursor = () => z.string().optional();

/**
 * Lists the newest files first. `page` and `after_id` continue after a file, `before_id` stops before a file, `ids` selects
 * files.
 */
const list = shared("", {
  method: "GET",
  summary: "List the files for messages",
  query: lazyLooseObject(() => ({
    limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(USUAL_PAGE),
    page: cursor(),
    after_id: cursor(),
    before_id: cursor(),
  })),
  answers: json(() =>
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
    const asked = new Set(["ids", "ids[]"].flatMap((name) => context.url.searchParams.getAll(name)));
    const all = await listCallersFiles({ context, caller, style: ID });
    const oldestFirst = all.filter(({ id }) => asked.size === 0 || asked.has(id));
    const found =
      before === undefined
        ? pageOf(oldestFirst.toReversed(), after, limit)
        : pageOf(oldestFirst, before, limit);
    const data = before === undefined ? found.data : found.data.toReversed();
    const last = data.at(-1)?.id ?? null;
    return heldJson(context, {
      data: data.map(metadata),
      first_id: data[0]?.id ?? null,
      last_id: last,
      has_more: found.hasMore,
      next_page: found.hasMore && before === undefined ? last : null,
    });
  },
});

const read = shared("/:file_id", {
  method: "GET",
  summary: "Read a file's metadata",
  answers: json(metadataSchema),
  takesAccount: true,
  handler: async (context, { caller, params }) => {
    const { kept } = await readCallersFile({ context, caller, style: ID }, params["file_id"] ?? "");
    return Response.json(metadata(kept));
  },
});

const remove = shared("/:file_id", {
  method: "DELETE",
  summary: "Delete a file",
  answers: json(() => z.object({ id: z.string(), type: z.literal("file_deleted") })),
  handler: async (context, { caller, params }) => {
    const id = params["file_id"] ?? "";
    await deleteCallersFile({ context, caller, style: ID }, id);
    return Response.json({ id, type: "file_deleted" });
  },
});

const content = shared("/:file_id/content", {
  method: "GET",
  summary: "Read a file's content: always an error, as it is not kept",
  answers: () => ({ "application/octet-stream": { type: "string" } }),
  handler: (context, { caller, params }) =>
    readCallersContent({ context, caller, style: ID }, params["file_id"] ?? ""),
});

/** File endpoints of the message style. All styles share the same files. */
export const MESSAGE_FILES: readonly Endpoint[] = [...upload, ...list, ...read, ...remove, ...content];
