import * as z from "zod";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import { deleteCallersFile, listCallersFiles, pageOf, readCallersFile } from "../../files/callers-files.ts";
import type { Context } from "../../platform/context.ts";
import type { KeptFile } from "../../platform/files.ts";
import {
  type Answers,
  type CallerDeclaration,
  type Endpoint,
  forCallers,
  json,
} from "../../routing/endpoint.ts";
import { heldJson } from "../../routing/held-answer.ts";
import { ID, speaksContentGeneration } from "./names.ts";

const MAX_PAGE = 100;
const USUAL_PAGE = 10;

const time = (milliseconds: number): string => new Date(milliseconds).toISOString();

/**
 * Returns the origin under which the client reached the gateway. Behind a proxy that terminates TLS, the scheme of the
 * request's own URL is wrong.
 */
export function originOf({ request, url }: Pick<Context, "request" | "url">): string {
  const secure = request.headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https";
  return secure ? `https://${url.host}` : url.origin;
}

/** Maps the provider's file status to `state` of this style. */
function stateOf(status: string | undefined): string {
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
export function fileResource(kept: KeptFile, context: Pick<Context, "request" | "url">): object {
  const created = time(kept.createdAt * 1000);
  return {
    name: `files/${kept.id}`,
    displayName: kept.displayName ?? kept.filename,
    mimeType: kept.mediaType || "application/octet-stream",
    sizeBytes: String(kept.bytes),
    createTime: created,
    updateTime: created,
    ...(kept.expiresAt === 0 ? {} : { expirationTime: time(kept.expiresAt) }),
    uri: `${originOf(context)}/v1beta/files/${kept.id}`,
    state: stateOf(kept.status),
    source: "UPLOADED",
  };
}

/** Schema of {@link fileResource}. */
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
export const NOTHING: Answers = json(() => ({ type: "object", maxProperties: 0 }));

/** Declares an endpoint under `/v1beta`, and under `/v1` for SDKs of this style. */
function shared<Query>(
  path: string,
  declaration: Omit<CallerDeclaration<unknown, Query>, "path" | "when">,
): Endpoint[] {
  return [
    forCallers({ ...declaration, path: `/v1beta/files${path}` }),
    forCallers({ ...declaration, path: `/v1/files${path}`, when: speaksContentGeneration }),
  ];
}

/** Lists the newest files first. A page token is the id of the last file of the previous page. */
const list = shared("", {
  method: "GET",
  summary: "List the uploaded files",
  query: lazyLooseObject(() => ({
    pageSize: z.coerce.number().int().min(0).default(USUAL_PAGE),
    pageToken: z.string().optional(),
  })),
  answers: json(() =>
    z.object({
      files: z.array(fileResourceSchema()).optional(),
      nextPageToken: z.string().optional(),
    }),
  ),
  handler: async (context, { caller, query }) => {
    const size = Math.min(query.pageSize || USUAL_PAGE, MAX_PAGE);
    const all = await listCallersFiles({ context, caller, style: ID });
    const { data, hasMore } = pageOf(all.toReversed(), query.pageToken || undefined, size);
    const last = data.at(-1);
    return heldJson(context, {
      ...(data.length === 0 ? {} : { files: data.map((kept) => fileResource(kept, context)) }),
      ...(hasMore && last !== undefined ? { nextPageToken: last.id } : {}),
    });
  },
});

const read = shared("/:file_id", {
  method: "GET",
  summary: "Read what is known of a file",
  answers: json(fileResourceSchema),
  takesAccount: true,
  handler: async (context, { caller, params }) => {
    const { file, kept } = await readCallersFile({ context, caller, style: ID }, params["file_id"] ?? "");
    return Response.json(fileResource({ ...kept, status: file.status }, context));
  },
});

const remove = shared("/:file_id", {
  method: "DELETE",
  summary: "Delete a file",
  answers: NOTHING,
  handler: async (context, { caller, params }) => {
    await deleteCallersFile({ context, caller, style: ID }, params["file_id"] ?? "");
    return Response.json({});
  },
});

/** File endpoints of the content-generation style. All styles share the same files. */
export const CONTENT_FILES: readonly Endpoint[] = [...list, ...read, ...remove];
