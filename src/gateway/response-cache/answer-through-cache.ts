import { usesResponseCache } from "../../core/config/response-cache.ts";
import type { GenerationRequest } from "../generation/generation-job.ts";

/** What the cache must know of a request and of its style, besides the conversation. */
export interface CacheableInput {
  /** The JSON body that the caller sent. */
  readonly body: unknown;
  /** Top-level members of the body on which the answer does not depend. */
  readonly ignoredMembers?: readonly string[];
  /** Whether the answer is stored for later requests. */
  readonly isStored?: boolean;
}

/** Makes a new answer. */
export type CreateAnswer = (request: GenerationRequest) => Promise<Response>;

/** Few deployments have a response cache. */
const loadCache = () => import("./serve-cached.ts");

/**
 * Answers a request from the response cache where it is on for the request, and otherwise with `createAnswer`. Callers without a
 * key and messages of a WebSocket never use it.
 */
export function answerThroughCache(
  request: GenerationRequest,
  input: CacheableInput,
  createAnswer: CreateAnswer,
): Promise<Response> {
  const { context, caller } = request;
  if (caller.key === null || context.connection !== undefined) return createAnswer(request);
  // No async function: its frame would keep the body in memory while the request waits.
  return context.config().then(({ config }) => {
    if (!usesResponseCache(config)) return createAnswer(request);
    return loadCache().then(({ serveCached }) => serveCached(config, request, input, createAnswer));
  });
}
