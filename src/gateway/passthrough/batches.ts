import { assertModelAllowed } from "../../core/auth/access-rules.ts";
import { altersUrlPath } from "../../core/conversation/model-path.ts";
import { maxPlausibleTokens } from "../../core/conversation/tokens.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { isObject, type JsonObject, parseObject } from "../../core/encoding/json.ts";
import { setMember } from "../../core/encoding/json-splice.ts";
import { GatewayError, invalidRequest, upstreamFailure } from "../../core/errors/gateway-error.ts";
import type { JsonBody } from "../../core/http/json-body.ts";
import { type BatchRecord, type BatchTokens, NO_TOKENS } from "../../core/ports/batches.ts";
import type { Context } from "../../core/ports/context.ts";
import { type Page, paginateById } from "../../core/routing/paginate-by-id.ts";
import { assertClearMembers } from "../dialects/shared/native-request.ts";
import { fileNotFoundError, isAccountGone } from "../files/file-provider.ts";
import { MAX_LIFETIME_SECONDS } from "../files/record-lifetime.ts";
import { readCount } from "../providers/json.ts";
import { type BatchRequest, callBatches } from "./batch-provider.ts";
import { PASSTHROUGH_STYLE } from "./targets.ts";

/** The members that decide where a request goes. */
const DECIDING_MEMBERS = ["input_file_id"];

/** The longest stored description of a batch, in characters. The errors of its lines are left out of longer ones. */
const MAX_STORED_CHARS = 100_000;

/** Members of a batch that name files, besides the input file. */
const RESULT_FILES = ["output_file_id", "error_file_id"] as const;

function batchNotFoundError(id: string): GatewayError {
  return new GatewayError(404, `there is no batch with id ${JSON.stringify(id)}`, {
    code: "not_found",
    param: "batch_id",
  });
}

/** Begins a request: the lines of a batch name models that the gateway does not see, so a limited key must not use it. */
function beginRequest({ context: { facts, requestLimits }, caller }: BatchRequest): void {
  facts.dialect = PASSTHROUGH_STYLE;
  facts.operation = "batches";
  assertModelAllowed(caller, requestLimits, { requested: "", id: "" });
}

/**
 * Creates a batch at the account that has its input file.
 *
 * @throws GatewayError 404 for a file that is not the caller's, 501 if the provider has no batches, and its errors
 */
export async function createBatch(request: BatchRequest, { text, value }: JsonBody): Promise<JsonObject> {
  beginRequest(request);
  const { context, caller } = request;
  const inputFileId = isObject(value) ? value["input_file_id"] : undefined;
  if (typeof inputFileId !== "string" || inputFileId === "") {
    throw invalidRequest("input_file_id: the id of an uploaded file is required", "input_file_id");
  }
  assertClearMembers(text, DECIDING_MEMBERS);
  const file = await context.platform.files(caller.owner, context.startedAt).get(inputFileId);
  if (file?.deleted === true || (file === null && caller.mode === "managed")) {
    throw fileNotFoundError(inputFileId);
  }
  const place = {
    account: file?.account ?? "",
    ...(file?.provider === undefined ? {} : { provider: file.provider }),
  };
  const body = setMember(text, "input_file_id", JSON.stringify(file?.upstreamId ?? inputFileId));
  const created = await callBatches(request, place, { path: "/batches", body }).catch((error: unknown) => {
    throw isAccountGone(error) ? fileNotFoundError(inputFileId) : error;
  });
  const id = `batch_${crypto.randomUUID().replaceAll("-", "")}`;
  const upstreamId = created["id"];
  if (typeof upstreamId !== "string" || upstreamId === "") {
    throw upstreamFailure("the provider's answer lacks the id of the batch", "upstream_error");
  }
  const expiresAt = context.platform.now() + MAX_LIFETIME_SECONDS * 1000;
  return recordBatch(request, created, { ...place, id, upstreamId, inputFileId, lastSeen: "{}", expiresAt });
}

/**
 * Reads or cancels a batch.
 *
 * @param action empty: reads it
 * @throws GatewayError 404 for a batch that is not the caller's, and the errors of the provider
 */
export async function readOrCancelBatch(
  request: BatchRequest,
  id: string,
  action: "" | "cancel",
): Promise<JsonObject> {
  beginRequest(request);
  const { context, caller } = request;
  const record = await context.platform.batches(caller.owner, context.startedAt).get(id);
  if (record === null && caller.mode === "managed") throw batchNotFoundError(id);
  const upstreamId = record?.upstreamId ?? id;
  if (upstreamId.includes("/") || altersUrlPath(upstreamId)) throw batchNotFoundError(id);
  const path = `/batches/${encodeURIComponent(upstreamId)}`;
  try {
    const batch = await callBatches(request, record ?? { account: "" }, {
      path: action === "" ? path : `${path}/${action}`,
      body: action === "" ? null : "{}",
      isStoredObject: true,
    });
    // The provider checks who owns a batch that was created with the caller's own token elsewhere.
    return record === null ? batch : await recordBatch(request, batch, record);
  } catch (error) {
    throw isAccountGone(error) || isMissing(error) ? batchNotFoundError(id) : error;
  }
}

/** Lists the caller's batches as they were seen last, the newest first. */
export async function listBatches(
  request: BatchRequest,
  after: string | undefined,
  limit: number,
): Promise<Page<JsonObject & { readonly id: string }>> {
  beginRequest(request);
  const { context, caller } = request;
  const records = await context.platform.batches(caller.owner, context.startedAt).list();
  const batches = records.toReversed().map(({ id, lastSeen }) => ({ ...parseObject(lastSeen), id }));
  return paginateById(batches, after, limit, batchNotFoundError);
}

function isMissing(error: unknown): boolean {
  return error instanceof GatewayError && error.status === 404;
}

/**
 * Records a batch as the provider states it: makes its files files of the caller, counts its new usage and stores it.
 * Returns it with the caller's ids.
 */
async function recordBatch(
  request: BatchRequest,
  batch: JsonObject,
  record: BatchRecord,
): Promise<JsonObject> {
  const { context, caller } = request;
  const recorded: Record<string, unknown> = { ...batch, id: record.id, input_file_id: record.inputFileId };
  for (const member of RESULT_FILES) {
    const upstreamId = batch[member];
    if (typeof upstreamId !== "string" || upstreamId === "") continue;
    recorded[member] = await adoptFile(
      request,
      record,
      upstreamId,
      `${record.id}_${member.split("_")[0]}.jsonl`,
    );
  }
  const counted = readTokens(context, batch, record);
  const text = JSON.stringify(recorded);
  const lastSeen = text.length <= MAX_STORED_CHARS ? text : JSON.stringify({ ...recorded, errors: null });
  const before = await context.platform
    .batches(caller.owner, context.startedAt)
    .put({ ...record, lastSeen, counted });
  countNewTokens(context, batch, record, {
    prompt: counted.prompt - before.prompt,
    completion: counted.completion - before.completion,
  });
  return recorded;
}

/** Makes a file of a batch a file of its caller. Returns its id, which is always the same for one file. */
async function adoptFile(
  { context, caller }: BatchRequest,
  { account, provider }: BatchRecord,
  upstreamId: string,
  filename: string,
): Promise<string> {
  const digest = await sha256Hex(JSON.stringify([caller.owner, provider ?? "", account, upstreamId]));
  const id = `file-${digest.slice(0, 32)}`;
  const files = context.platform.files(caller.owner, context.startedAt);
  if ((await files.get(id)) !== null) return id;
  const now = context.platform.now();
  await files.put({
    id,
    upstreamId,
    ...(provider === undefined ? {} : { provider }),
    account,
    filename,
    mediaType: "application/jsonl",
    purpose: "batch_output",
    bytes: 0,
    status: "processed",
    createdAt: Math.floor(now / 1000),
    expiresAt: now + MAX_LIFETIME_SECONDS * 1000,
  });
  return id;
}

/** No batch states more tokens. */
const MAX_TOKENS = maxPlausibleTokens(Number.POSITIVE_INFINITY);

/** The tokens of a batch that are counted now: a provider may state them while the batch runs. */
function readTokens(
  { facts }: Context,
  { usage }: JsonObject,
  { counted = NO_TOKENS, isCounted }: BatchRecord,
): BatchTokens {
  if (!isObject(usage) || isCounted === true) return counted;
  const prompt = readCount(usage["input_tokens"]) ?? 0;
  const completion = readCount(usage["output_tokens"]) ?? 0;
  if (Math.max(prompt, completion) > MAX_TOKENS) {
    facts.usageRefused = true;
    return counted;
  }
  return {
    prompt: Math.max(counted.prompt, prompt),
    completion: Math.max(counted.completion, completion),
  };
}

/** Counts the tokens that were not counted before for the request that reads the batch. */
function countNewTokens(
  { facts }: Context,
  { model }: JsonObject,
  { provider }: BatchRecord,
  { prompt, completion }: BatchTokens,
): void {
  if (prompt <= 0 && completion <= 0) return;
  facts.promptTokens = Math.max(0, prompt);
  facts.completionTokens = Math.max(0, completion);
  if (typeof model === "string") facts.model = provider === undefined ? model : `${provider}/${model}`;
}
