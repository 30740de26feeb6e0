import * as z from "zod";
import { setMember } from "../../../core/encoding/json-splice.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { respondJsonWithinBudget } from "../../../core/routing/budgeted-response.ts";
import {
  callerEndpoint,
  type Endpoint,
  jsonResponse,
  rawBodyEndpoint,
} from "../../../core/routing/endpoint.ts";
import { paginateById } from "../../../core/routing/paginate-by-id.ts";
import { assertNoGuardrails } from "../../guardrails/unchecked-endpoints.ts";
import { assertClearMembers, namesOwnFile } from "../shared/native-request.ts";
import { EMPTY_ANSWER } from "./files.ts";
import { parseModelName } from "./request.ts";

/** The members that decide where a request goes. */
const DECIDING_MEMBERS = ["model"];

/** The vendor's SDKs use both versions. */
const PATHS = ["/v1beta/cachedContents", "/v1/cachedContents"];
const CACHE_PATHS = PATHS.map((path) => `${path}/:cache_id`);
const MAX_PAGE_SIZE = 1_000;
const DEFAULT_PAGE_SIZE = 50;

const load = () => import("./caches.ts");
const cacheSchema = () => z.looseObject({ name: z.string() }).describe("The provider's cached content.");
const toName = (id: string | undefined) => `cachedContents/${id ?? ""}`;

const create = rawBodyEndpoint({
  method: "POST",
  path: PATHS,
  summary: "Cache a prompt",
  statuses: { 501: "No provider of the model caches prompts." },
  body: lazyLooseObject(() => ({ model: z.string().min(1) })),
  answers: jsonResponse(cacheSchema),
  handler: async (context, { caller, body: { text, value } }) => {
    const model: unknown = Object(value).model;
    if (typeof model !== "string" || model === "") {
      throw invalidRequest("model: the name of a model is required", "model");
    }
    await assertNoGuardrails(context, caller);
    assertClearMembers(text, DECIDING_MEMBERS);
    if (namesOwnFile(text)) {
      throw invalidRequest("contents: files of the gateway cannot be cached: send them within the request");
    }
    const { createCache } = await load();
    const createBody = (path: string) => setMember(text, "model", JSON.stringify(path));
    return Response.json(await createCache({ context, caller }, parseModelName(model), createBody));
  },
});

const list = callerEndpoint({
  method: "GET",
  path: PATHS,
  summary: "List the cached prompts",
  query: lazyLooseObject(() => ({
    pageSize: z.coerce.number().int().min(0).default(DEFAULT_PAGE_SIZE),
    pageToken: z.string().optional(),
  })),
  answers: jsonResponse(() =>
    z.object({ cachedContents: z.array(cacheSchema()).optional(), nextPageToken: z.string().optional() }),
  ),
  handler: async (context, { caller, query: { pageSize, pageToken } }) => {
    const { cacheNotFoundError, listCaches } = await load();
    const size = Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
    const all = await listCaches({ context, caller });
    const { data, hasMore } = paginateById(all, pageToken || undefined, size, cacheNotFoundError);
    return respondJsonWithinBudget(context, {
      ...(data.length === 0 ? {} : { cachedContents: data.map(({ id: _, ...cache }) => cache) }),
      ...(hasMore ? { nextPageToken: data.at(-1)?.id } : {}),
    });
  },
});

const read = callerEndpoint({
  method: "GET",
  path: CACHE_PATHS,
  summary: "Read a cached prompt",
  answers: jsonResponse(cacheSchema),
  handler: async (context, { caller, params }) => {
    const { callStoredCache } = await load();
    const request = { method: "GET", query: "", body: null } as const;
    return Response.json(await callStoredCache({ context, caller }, toName(params["cache_id"]), request));
  },
});

const update = rawBodyEndpoint({
  method: "PATCH",
  path: CACHE_PATHS,
  summary: "Change the lifetime of a cached prompt",
  body: lazyLooseObject(() => ({
    ttl: z.string().optional().describe("The lifetime from now on, such as 600s."),
    expireTime: z.string().optional().describe("When it ends (RFC 3339)."),
  })),
  answers: jsonResponse(cacheSchema),
  handler: async (context, { caller, params, body }) => {
    const { callStoredCache } = await load();
    const mask = context.url.searchParams.get("updateMask");
    const query = mask === null ? "" : new URLSearchParams({ updateMask: mask }).toString();
    const request = { method: "PATCH", query, body: body.text } as const;
    return Response.json(await callStoredCache({ context, caller }, toName(params["cache_id"]), request));
  },
});

const remove = callerEndpoint({
  method: "DELETE",
  path: CACHE_PATHS,
  summary: "Delete a cached prompt",
  answers: EMPTY_ANSWER,
  handler: async (context, { caller, params }) => {
    const { callStoredCache } = await load();
    const request = { method: "DELETE", query: "", body: null } as const;
    return Response.json(await callStoredCache({ context, caller }, toName(params["cache_id"]), request));
  },
});

/** Endpoints for prompts that a provider caches under names. */
export const CONTENT_CACHES: readonly Endpoint[] = [create, list, read, update, remove];
