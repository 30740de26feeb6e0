import * as z from "zod";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { isDotSegment } from "../../../core/encoding/path-segment.ts";
import type { Capture, SampleSelector } from "../../../core/ports/captures.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { chatCompletionAnswers } from "../../../gateway/dialects/chat-completions/answers.ts";
import { getOutbox } from "../../../records/telemetry/outbox.ts";
import { testModelSchema } from "../accounts/account-test.ts";
import { successSchema } from "../answers.ts";
import { resolveTestKey } from "../api-test.ts";
import { notFoundError, requireFound } from "../resource-errors.ts";
import { callChatCompletions } from "../self-call.ts";
import { captureChainSchema, sampleMetaSchema, sampleSchema } from "./archive-answers.ts";

const sampleIdSchema = once(() =>
  z
    .string()
    .trim()
    .regex(/^[\w.-]{0,100}$/, "may have letters, digits, '.', '_' and '-', at most 100 of them")
    .refine((id) => !isDotSegment(id), "means something else in an address")
    .default(""),
);

/** Body of `POST /admin/dev/raw-samples/capture`; it may be missing. `messages` wins over `message`. */
const sampleCaptureSchema = lazyObject(() => ({
  message: z.string().default(""),
  messages: z.array(z.record(z.string(), z.unknown())).optional(),
  model: testModelSchema(),
  stream: z.boolean().default(true),
  api_key: z.string().trim().default(""),
  sample_id: sampleIdSchema(),
}));

/** Query of `GET /admin/dev/raw-samples/query`. */
const sampleQuerySchema = lazyObject(() => ({
  q: z.string().trim().default(""),
  limit: z.coerce.number().int().min(1, "must be at least 1").max(1000, "must be at most 1000").default(20),
}));

const selectorSchema = once(() => z.string().trim().default(""));

/** Body of `POST /admin/dev/raw-samples/save`: exactly one selector. */
const sampleSaveSchema = lazyObject(() => ({
  chain_key: selectorSchema(),
  capture_id: selectorSchema(),
  query: selectorSchema(),
  sample_id: sampleIdSchema(),
})).refine(
  ({ chain_key, capture_id, query }) => [chain_key, capture_id, query].filter(Boolean).length === 1,
  {
    error: "one of chain_key, capture_id and query is needed",
    path: ["chain_key"],
  },
);

/** How long the handler waits after the response for the capture to arrive. */
const CAPTURE_GRACE_MS = 2_000;

const savedSchema = () =>
  successSchema().extend({
    sample_id: z.string(),
    dir: z.string(),
    meta_path: z.string(),
    upstream_path: z.string(),
    round_count: z.int(),
  });

/** Paths of a sample. They are names only; `GET /admin/dev/raw-samples/{sample_id}` reads the sample. */
function samplePaths(id: string) {
  const dir = `raw-samples/${id}`;
  return { sample_id: id, dir, meta_path: `${dir}/meta.json`, upstream_path: `${dir}/upstream.sse` };
}

function newSampleId({ platform }: Context): string {
  const stamp = new Date(platform.now()).toISOString().replace(/\D/g, "").slice(0, 14);
  return `sample-${stamp}-${crypto.randomUUID().slice(0, 8)}`;
}

/** Response if nothing was captured: the call did not reach the provider, or the captures arrived too late. */
function noCaptureResponse(status: number): Response {
  return Response.json({ detail: "no upstream capture was recorded" }, { status });
}

/** Makes one chat-completions call to the gateway itself and saves the upstream's response as a sample. */
async function captureSample(
  context: Context,
  body: z.output<typeof sampleCaptureSchema>,
): Promise<Response> {
  const key = await resolveTestKey(context, body.api_key);
  const messages = body.messages ?? [{ role: "user", content: body.message || "Hello! Who are you?" }];
  const captures: Capture[] = [];
  const recorded = Promise.withResolvers<void>();
  const onCapture = (capture: Capture) => {
    captures.push(capture);
    if (capture.chain_key !== "") recorded.resolve();
  };
  const observed = { ...context, onCapture };
  const call = await callChatCompletions(observed, key, { model: body.model, stream: body.stream, messages });
  const answer = await call.text();
  // A capture is complete when the upstream connection closes, which may be shortly after the response.
  const timeout = setTimeout(recorded.resolve, call.ok ? CAPTURE_GRACE_MS : 0);
  await recorded.promise;
  clearTimeout(timeout);
  const rounds = captures.filter(({ chain_key }) => chain_key !== "");
  if (rounds.length === 0) return noCaptureResponse(call.ok ? 503 : call.status);
  const { archive, variables } = context.platform;
  const id = body.sample_id || newSampleId(context);
  // Save these captures directly: the capture store may be cleared or too small for all of them.
  const inOrder = rounds.toSorted((a, b) => a.at - b.at);
  const meta = await archive.saveSample({ captures: inOrder }, id, variables.providerDriver);
  if (meta === null) return noCaptureResponse(503);
  const paths = samplePaths(id);
  return new Response(answer, {
    status: call.status,
    headers: {
      "content-type": call.headers.get("content-type") ?? "application/json",
      "x-gateway-sample-id": id,
      "x-gateway-sample-dir": paths.dir,
      "x-gateway-sample-meta": paths.meta_path,
      "x-gateway-sample-upstream": paths.upstream_path,
    },
  });
}

function toSampleSelector({
  chain_key,
  capture_id,
  query,
}: z.output<typeof sampleSaveSchema>): SampleSelector {
  if (chain_key !== "") return { chainKey: chain_key };
  return capture_id === "" ? { query } : { captureIds: [capture_id] };
}

const SAMPLE_KIND = "the sample";

export const SAMPLE_ENDPOINTS = [
  /**
   * `POST /admin/dev/raw-samples/capture` (docs/contract/admin-history.md): makes one chat-completions call to the
   * gateway itself. Responds with that call's response; headers name the sample.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/dev/raw-samples/capture",
    summary: "Capture a raw upstream stream",
    body: sampleCaptureSchema,
    optionalBody: true,
    answers: chatCompletionAnswers,
    handler: (context, { body }) => captureSample(context, body),
  }),
  /** `GET /admin/dev/raw-samples/query` (docs/contract/admin-history.md): rounds grouped by chat session, newest first. */
  adminEndpoint({
    method: "GET",
    path: "/admin/dev/raw-samples/query",
    summary: "Search the captures",
    query: sampleQuerySchema,
    answers: jsonResponse(() => z.object({ items: z.array(captureChainSchema()) })),
    handler: async ({ platform }, { query: { q, limit } }) =>
      Response.json({ items: await platform.archive.listChains(q, limit) }),
  }),
  /** `POST /admin/dev/raw-samples/save` (docs/contract/admin-history.md). */
  adminEndpoint({
    method: "POST",
    path: "/admin/dev/raw-samples/save",
    summary: "Save captures as a sample",
    body: sampleSaveSchema,
    answers: jsonResponse(savedSchema),
    handler: async (context, { body }) => {
      const { archive, variables } = context.platform;
      const id = body.sample_id || newSampleId(context);
      // Recent captures may still be in the outbox of this isolate.
      const outbox = getOutbox(context.platform);
      if (outbox.hasCaptures) await outbox.waitUntilSent();
      const meta = await archive.saveSample(toSampleSelector(body), id, variables.providerDriver);
      if (meta === null) throw notFoundError("a capture that fits");
      return Response.json({ success: true, ...samplePaths(id), round_count: meta.rounds.length });
    },
  }),
  /** `GET /admin/dev/raw-samples`: the saved samples, newest first. */
  adminEndpoint({
    method: "GET",
    path: "/admin/dev/raw-samples",
    summary: "List the saved samples",
    answers: jsonResponse(() => z.object({ items: z.array(sampleMetaSchema()) })),
    handler: async ({ platform }) => Response.json({ items: await platform.archive.listSamples() }),
  }),
  /** `GET /admin/dev/raw-samples/{sample_id}`: `meta` and the `upstream` text, as `npm run replay` reads them. */
  adminEndpoint({
    method: "GET",
    path: "/admin/dev/raw-samples/:sample_id",
    summary: "Read a saved sample",
    answers: jsonResponse(sampleSchema),
    handler: async ({ platform }, { params: { sample_id: id = "" } }) =>
      Response.json(requireFound(await platform.archive.readSample(id), SAMPLE_KIND, id)),
  }),
  /** `DELETE /admin/dev/raw-samples/{sample_id}`. */
  adminEndpoint({
    method: "DELETE",
    path: "/admin/dev/raw-samples/:sample_id",
    audit: "deletion",
    summary: "Delete a saved sample",
    answers: jsonResponse(successSchema),
    handler: async ({ platform }, { params: { sample_id: id = "" } }) => {
      requireFound(await platform.archive.deleteSample(id), SAMPLE_KIND, id);
      return Response.json({ success: true });
    },
  }),
] satisfies readonly Endpoint[];
