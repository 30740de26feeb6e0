import type { Caller } from "../../core/auth/callers.ts";
import { usesResponseCache } from "../../core/config/schemas/response-cache-schema.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RecordedAnswer } from "../../core/routing/answer-recorder.ts";
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
const loadCallCache = () => import("./serve-cached-call.ts");

/**
 * Answers a request from the response cache where it is on for the request, and otherwise with `createAnswer`. Callers
 * without a key and messages of a WebSocket never use it.
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

/** A request without a conversation. Everything but its limits was checked. */
export interface CacheableCall {
  readonly context: Context;
  readonly caller: Caller;
  readonly style: string;
  /** The model as requested, and the models that may answer. */
  readonly model: Pick<ResolvedModel, "id" | "requested" | "provider" | "route">;
  /** Returns the body; null: the same request may have another answer later. */
  readonly readInput: () => CacheableInput | null;
  /** The headers of features that the provider gets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a successful answer may be stored. */
  readonly isStorable: (answer: RecordedAnswer) => boolean;
  /** Records a request that gets a cached answer. `admit` counts it, and throws if it must not get the answer. */
  readonly recordReplay: (admit: () => Promise<void>) => Promise<void>;
}

/**
 * The same for a request without a conversation.
 *
 * @param describe called if any request can be answered from the cache
 * @param createAnswer gets the context of the request
 */
export async function answerCallThroughCache(
  context: Context,
  { key }: Caller,
  describe: () => CacheableCall,
  createAnswer: (context: Context) => Promise<Response>,
): Promise<Response> {
  if (key === null) return createAnswer(context);
  const { config } = await context.config();
  if (!usesResponseCache(config)) return createAnswer(context);
  const { serveCachedCall } = await loadCallCache();
  return serveCachedCall(config, describe(), createAnswer);
}
