import { DEFAULT_PROVIDER } from "../../core/config/provider-schema.ts";
import { type Conversation, joinText } from "../../core/conversation/conversation.ts";
import type { Usage } from "../../core/conversation/events.ts";
import type { CatalogueModel } from "../../core/conversation/model.ts";
import type { GenerationOutcome, RawOutput } from "../../core/conversation/outcome.ts";
import { toUsageDetails } from "../../core/conversation/usage-details.ts";
import { redactText } from "../../core/encoding/redaction.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type {
  FailedAttempt,
  HistorySummary,
  HistoryUsageDetails,
  HistoryWrite,
  SignInWait,
} from "../../core/ports/archive.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import { detachText, truncateText } from "../../core/storage/text-table.ts";
import {
  countCharacters,
  getOutbox,
  type Outbox,
  type RecordSource,
} from "../../records/telemetry/outbox.ts";
import { findRequestCost, fromNano, listUnpricedParts, type Pricing } from "../../records/usage/prices.ts";
import { serializeMessages } from "./message-archive.ts";
import { serializeOptions } from "./options-archive.ts";

/** How often a record is refreshed while its generation streams, milliseconds. */
const REFRESH_MS = 1_500;
/** The interval for a long answer, milliseconds: each refresh sends the whole answer. */
const LONG_REFRESH_MS = 6_000;
const LONG_CHARS = 50_000;

/** Most characters stored of each text. */
const MAX_PROMPT = 400_000;
const MAX_OUTPUT = 600_000;
/** The same when the queue for the archive is too long. */
const MAX_SHORT = 2_000;
const MAX_LABEL = 300;
/** Most failed accounts whose reasons are stored. */
const MAX_TRIED = 20;
const PREVIEW = 200;

/** The beginning of a text, with a note of how much is missing. */
function shortenText(text: string): string {
  const stored = detachText(truncateText(text, MAX_SHORT), text);
  const missing = text.length - stored.length;
  return missing === 0 ? stored : `${stored}… [${missing} characters left out]`;
}

/** Shortens a text to one line. */
function createPreview(text: string): string {
  return truncateText(
    text
      .slice(0, PREVIEW * 4)
      .replace(/\s+/g, " ")
      .trim(),
    PREVIEW,
  );
}

function lastQuestion({ messages }: Conversation): string {
  const last = messages.findLast(({ role }) => role === "user") ?? messages.at(-1);
  return last === undefined ? "" : joinText(last.parts);
}

/** `at`: Unix milliseconds. `target`: the account's provider and the requested model, where they are not obvious. */
function createTriedAccount(
  account: string,
  failure: unknown,
  at: number,
  target: Pick<FailedAttempt, "provider" | "model">,
): FailedAttempt {
  const known = failure instanceof ProviderError || failure instanceof GatewayError ? failure : null;
  const reason = known instanceof ProviderError ? known.kind : (known?.code ?? "internal_error");
  return { account, reason, message: truncateText(known?.message ?? "", MAX_LABEL), at, ...target };
}

/** References to data that the running generation holds anyway. */
interface RunningGeneration {
  readonly conversation: Conversation;
  readonly prompt: string;
  readonly output: RawOutput;
}

/** The complete record of a generation that has ended. */
interface FinalRecord extends HistoryWrite {
  readonly request: NonNullable<HistoryWrite["request"]>;
}

function toHistoryUsageDetails(usage: Usage | null): HistoryUsageDetails {
  const details = toUsageDetails(usage ?? { prompt: 0, completion: 0, reasoning: 0 });
  return {
    cached_tokens: details.cachedTokens,
    cache_write_5m_tokens: details.cacheWrite5mTokens,
    cache_write_1h_tokens: details.cacheWrite1hTokens,
    audio_input_tokens: details.audioInputTokens,
    audio_output_tokens: details.audioOutputTokens,
    image_input_tokens: details.imageInputTokens,
    image_output_tokens: details.imageOutputTokens,
    web_searches: details.webSearches,
    web_fetches: details.webFetches,
    audio_seconds: details.audioSeconds,
    search_units: details.searchUnits,
  };
}

/** The list of a request's attempts. */
type ListedAttempts = Pick<RetryBudget, "attempts" | "begunAttempts">;

const EMPTY_OUTPUT: RawOutput = { rawText: "", rawReasoning: "" };

/**
 * Archives one generation (contract, general rule 9). While the generation runs, it holds only references, and builds texts
 * only when they are sent. After the end, a waiting record holds no attachments, and of long texts only what is archived.
 * It never throws and never waits: the history must not slow or break a generation.
 */
export class Recording implements RecordSource {
  readonly #context: Context;
  readonly #outbox: Outbox;
  readonly #retries: ListedAttempts;
  readonly #id = `hist_${crypto.randomUUID().replaceAll("-", "")}`;
  #running: RunningGeneration;
  /** Null until the generation has ended. */
  #finalRecord: FinalRecord | null = null;
  #hasStarted = false;
  #account = "";
  #leasedAt = 0;
  readonly #tried: FailedAttempt[] = [];
  readonly #signIns: SignInWait[] = [];
  /** How many failures were recorded. */
  failureCount = 0;
  #outcome: GenerationOutcome | null = null;
  #endedAt = 0;
  #refreshedAt = 0;
  #requestSent = false;
  isKnownToArchive = false;
  /** Whether the history was on when the request came. */
  #isEnabled = false;
  /** The prices when the request came. */
  #pricing: Pricing | null = null;

  /** @param retries lists the attempts of the request */
  constructor(context: Context, conversation: Conversation, retries: ListedAttempts) {
    this.#context = context;
    this.#retries = retries;
    this.#running = { conversation, prompt: "", output: EMPTY_OUTPUT };
    this.#outbox = getOutbox(context.platform);
  }

  /** Another model will answer the conversation. */
  setConversation(conversation: Conversation): void {
    this.#running = { ...this.#running, conversation };
  }

  /** Starts the record. `output` will collect the upstream's text. */
  start(promptText: string, output: RawOutput): void {
    this.#hasStarted = true;
    this.#context.refusal.hasRecord = true;
    this.#running = { ...this.#running, prompt: promptText, output };
    this.#context.config().then(
      ({ config }) => {
        this.#isEnabled = config.history.limit > 0 && this.#context.facts.history !== "none";
        this.#pricing = config;
        this.#queueUpdate();
      },
      () => undefined,
    );
  }

  /** Records the leased account; empty in pass-through mode. */
  recordAccount(identifier: string): void {
    this.#account = identifier;
    this.#leasedAt = this.#context.platform.now();
  }

  /** Records a wait for an account's token since `startedAt` (Unix milliseconds). */
  recordSignInWait(identifier: string, startedAt: number): void {
    if (this.#signIns.length >= MAX_TRIED) return;
    this.#signIns.push({ account: identifier, at: startedAt, ms: this.#context.platform.now() - startedAt });
  }

  /** Records that an account failed, possibly before the conversation was sent to it. */
  recordAccountFailure(identifier: string, failure: unknown, model?: CatalogueModel): void {
    if (identifier !== this.#account) this.recordAccount(identifier);
    this.recordFailure(failure, model, identifier);
  }

  /** Records that a model could not be used, or that one of its accounts failed. */
  recordFailure(failure: unknown, model?: CatalogueModel, account = ""): void {
    this.failureCount += 1;
    if (this.#tried.length >= MAX_TRIED) return;
    const { facts, platform } = this.#context;
    // With a single provider, the provider and the model are obvious.
    const target =
      facts.provider === undefined || model === undefined
        ? {}
        : { provider: model.provider ?? DEFAULT_PROVIDER, model: model.id };
    this.#tried.push(createTriedAccount(account, failure, platform.now(), target));
  }

  /**
   * Called after each read of the upstream with the current time (milliseconds since the epoch). Refreshes the record at
   * intervals.
   */
  refreshIfDue(now: number): void {
    const { rawText, rawReasoning } = this.#running.output;
    const length = rawText.length + rawReasoning.length;
    const refreshMs = length > LONG_CHARS ? LONG_REFRESH_MS : REFRESH_MS;
    if (Math.abs(now - this.#refreshedAt) >= refreshMs) this.#queueUpdate();
  }

  /** Ends the record with the outcome. A generation that never started leaves no record. */
  end(outcome: GenerationOutcome): void {
    if (this.#outcome !== null || !this.#hasStarted) return;
    this.#outcome = outcome;
    this.#endedAt = this.#context.platform.now();
    this.#queueUpdate();
  }

  #queueUpdate(): void {
    if (!this.#isEnabled) return;
    this.#refreshedAt = this.#context.platform.now();
    if (this.#outcome !== null && this.#finalRecord === null) this.#finalize();
    this.#outbox.record(this);
    const sent = this.#outbox.waitUntilSent();
    if (sent !== null) this.#context.waitUntil(sent);
  }

  markUndelivered(): void {
    this.#requestSent = false;
  }

  get createdAt(): number {
    return this.#context.startedAt;
  }

  get hasEnded(): boolean {
    return this.#finalRecord !== null;
  }

  get characters(): number {
    return this.#finalRecord === null ? 0 : countCharacters(this.#finalRecord);
  }

  shorten(): void {
    if (this.#finalRecord === null) return;
    const { request, reasoning, content } = this.#finalRecord;
    this.#finalRecord = {
      ...this.#finalRecord,
      // Messages are JSON, and the beginning of a JSON text cannot be parsed.
      request: {
        messages: request.messages.length > MAX_SHORT ? "[]" : request.messages,
        prompt: shortenText(request.prompt),
        options: request.options.length > MAX_SHORT ? "" : request.options,
      },
      reasoning: shortenText(reasoning),
      content: shortenText(content),
    };
  }

  write(wantsWhole = false): HistoryWrite {
    const record = this.#finalRecord ?? {
      ...this.#archiveAnswer(),
      request: this.#requestSent ? null : this.#archiveRequest(),
    };
    const omitsRequest = this.#requestSent && !(wantsWhole && this.#finalRecord !== null);
    const written = omitsRequest ? { ...record, request: null } : record;
    this.#requestSent = true;
    this.isKnownToArchive = true;
    return written;
  }

  /** Ends the running state: replaces the references by texts. */
  #finalize(): void {
    this.#finalRecord = { ...this.#archiveAnswer(), request: this.#archiveRequest() };
    const { conversation } = this.#running;
    this.#running = {
      conversation: { ...conversation, messages: [], tools: [] },
      prompt: "",
      output: EMPTY_OUTPUT,
    };
  }

  #archiveRequest(): FinalRecord["request"] {
    const { conversation, prompt } = this.#running;
    if (this.#context.facts.history === "no_texts") return { messages: "[]", prompt: "", options: "" };
    return {
      messages: serializeMessages(conversation.messages, (text) => this.#redact(text)),
      prompt: this.#archiveText(prompt, MAX_PROMPT),
      options: serializeOptions(conversation, (text) => this.#redact(text)),
    };
  }

  #archiveAnswer(): Omit<HistoryWrite, "request"> {
    const { rawText, rawReasoning } = this.#running.output;
    return {
      summary: this.#createSummary(),
      reasoning: this.#archiveText(rawReasoning, MAX_OUTPUT),
      content: this.#archiveText(rawText, MAX_OUTPUT),
    };
  }

  #describeCost(usage: Usage | null): Pick<HistorySummary, "cost" | "unpriced"> {
    if (usage === null || this.#pricing === null) return {};
    const { hasUncountedAnswer = false } = this.#context.facts;
    const fields = {
      ...toUsageDetails(usage),
      model: this.#running.conversation.model.id,
      requestedModel: this.#running.conversation.model.requested,
      promptTokens: usage.prompt,
      completionTokens: usage.completion,
      reasoningTokens: usage.reasoning,
      hasUncountedAnswer,
    };
    const cost = findRequestCost(this.#pricing, fields);
    const unpriced = listUnpricedParts(this.#pricing, fields);
    return {
      cost: cost === null ? null : fromNano(cost),
      ...(unpriced.length === 0 ? {} : { unpriced }),
    };
  }

  /** What may be stored of a text. */
  #redact(text: string): string {
    const { history } = this.#context.facts;
    if (history === undefined) return text;
    return history === "redacted" ? redactText(text) : "";
  }

  #archiveText(text: string, max: number): string {
    // Redacts the whole text first: a part of an address may not be recognised.
    const stored = this.#redact(text);
    return detachText(truncateText(stored, max), stored);
  }

  #createSummary(): HistorySummary {
    const { request, requestId, facts, startedAt, platform } = this.#context;
    const { conversation, output } = this.#running;
    const outcome = this.#outcome;
    const now = outcome === null ? platform.now() : this.#endedAt;
    return {
      id: this.#id,
      created_at: startedAt,
      updated_at: now,
      completed_at: this.#endedAt,
      request_id: requestId,
      key: facts.key ?? "",
      ...(facts.team === undefined ? {} : { team: facts.team }),
      ...(facts.user === undefined ? {} : { user: facts.user }),
      ...(facts.tags === undefined ? {} : { tags: facts.tags.split(",") }),
      dialect: conversation.dialect,
      requested_model: truncateText(facts.requestedModel ?? conversation.model.requested, MAX_LABEL),
      model: conversation.model.id,
      provider: facts.provider ?? "",
      account: this.#account,
      leased_at: this.#leasedAt,
      first_token_ms: facts.firstTokenMs ?? 0,
      attempts: this.#retries.begunAttempts,
      // A provider's message may quote the request.
      tried: this.#tried.map((attempt) => ({ ...attempt, message: this.#redact(attempt.message) })),
      upstream_attempts: this.#retries.attempts.map((attempt) => ({ ...attempt })),
      sign_ins: [...this.#signIns],
      source: truncateText(request.headers.get("x-gateway-source")?.trim() ?? "", MAX_LABEL),
      ...(facts.answerPath === undefined ? {} : { path: facts.answerPath }),
      ...(facts.cache === "hit" ? { cached: true } : {}),
      ...(facts.droppedParams === undefined ? {} : { dropped_params: facts.droppedParams.split(",") }),
      stream: conversation.stream,
      thinking: conversation.thinking,
      status: outcome?.status ?? "streaming",
      status_code: outcome?.statusCode ?? 0,
      error: truncateText(outcome?.error ?? "", MAX_LABEL),
      ...(outcome === null || outcome.code === "" ? {} : { error_code: outcome.code }),
      finish_reason: outcome?.finishReason ?? "",
      prompt_tokens: outcome?.usage?.prompt ?? 0,
      completion_tokens: outcome?.usage?.completion ?? 0,
      reasoning_tokens: outcome?.usage?.reasoning ?? 0,
      ...toHistoryUsageDetails(outcome?.usage ?? null),
      ...this.#describeCost(outcome?.usage ?? null),
      elapsed_ms: now - startedAt,
      request_preview: createPreview(this.#redact(lastQuestion(conversation))),
      response_preview: createPreview(this.#redact(output.rawText)),
    };
  }
}
