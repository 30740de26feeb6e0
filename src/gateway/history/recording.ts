import type { HistoryMode } from "../../core/config/history-mode.ts";
import { toProviderId } from "../../core/config/provider-id.ts";
import type { Conversation } from "../../core/conversation/conversation.ts";
import type { CatalogueModel } from "../../core/conversation/model.ts";
import { EMPTY_OUTPUT, type GenerationOutcome, type RawOutput } from "../../core/conversation/outcome.ts";
import { withUpstreamWords } from "../../core/errors/failure-message.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import {
  countCharacters,
  type FailedAttempt,
  type HistorySummary,
  type HistoryWrite,
  type SignInWait,
} from "../../core/ports/archive.ts";
import type { Context } from "../../core/ports/context.ts";
import { getOutbox, type Outbox } from "../../records/telemetry/outbox.ts";
import type { RecordSource } from "../../records/telemetry/waiting-records.ts";
import type { Pricing } from "../../records/usage/prices.ts";
import { createHistorySummary, type ListedAttempts } from "./history-summary.ts";
import { serializeMessages } from "./message-archive.ts";
import { serializeOptions } from "./options-archive.ts";
import { isRefusalRecorded } from "./record-if-refused.ts";
import { limitErrorForHistory } from "./stored-errors.ts";
import { limitForHistory, MAX_SHORT, redactForHistory, redactName, shortenText } from "./stored-text.ts";

/** How often a record is refreshed while its generation streams, milliseconds. */
const REFRESH_MS = 1_500;
/** The interval for a long answer, milliseconds: each refresh sends the whole answer. */
const LONG_REFRESH_MS = 6_000;
const LONG_CHARS = 50_000;

/** The codes with which a limit of a key, its team, user or tags, or of the provider refuses a request. */
const LIMIT_CODE = /^(?:rate_limit_exceeded|insufficient_quota)$/;

/** Most characters stored of each text. */
const MAX_PROMPT = 400_000;
const MAX_OUTPUT = 600_000;
/** Most failed accounts whose reasons are stored. */
const MAX_TRIED = 20;

/** `at`: Unix milliseconds. `target`: the account's provider and the requested model, where they are not obvious. */
function createTriedAccount(
  account: string,
  failure: unknown,
  at: number,
  target: Pick<FailedAttempt, "provider" | "model">,
  mode: HistoryMode | undefined,
): FailedAttempt {
  if (failure instanceof ProviderError) {
    const { code } = providerErrorToGateway(failure);
    const words = withUpstreamWords(failure.message, failure.upstreamWords);
    return { account, reason: failure.kind, message: limitErrorForHistory(words, code, mode), at, ...target };
  }
  const { code, message } =
    failure instanceof GatewayError ? failure : { code: "internal_error", message: "" };
  return { account, reason: code, message: limitErrorForHistory(message, code, mode), at, ...target };
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

/**
 * Archives one generation (docs/contract.md, general rule 9). While the generation runs, it holds only references, and
 * builds texts only when they are sent. After the end, a waiting record holds no attachments, and of long texts only
 * what is archived. It never throws and never waits: the history must not slow or break a generation.
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
    this.#context.refusedRequest.hasRecord = true;
    this.#running = { ...this.#running, prompt: promptText, output };
    this.#context.config().then(
      ({ config }) => {
        if (this.#context.refusedRequest.hasRecord === false) return;
        this.#isEnabled = config.history.limit > 0 && this.#context.facts.history !== "none";
        this.#pricing = config;
        this.#queueUpdate();
      },
      () => undefined,
    );
  }

  /** Records the leased account; empty with the caller's own token. */
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
        : { provider: toProviderId(model.provider), model: redactName(model.id, facts.history) };
    this.#tried.push(createTriedAccount(account, failure, platform.now(), target, facts.history));
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

  /** Ends the record with the outcome. A generation that never started, or that a limit refuses, leaves no record. */
  end(outcome: GenerationOutcome): void {
    if (this.#outcome !== null || !this.#hasStarted) return;
    const isRefused = LIMIT_CODE.test(outcome.code) && this.mayBeRefused && !this.isKnownToArchive;
    this.#outcome = outcome;
    this.#endedAt = this.#context.platform.now();
    if (isRefused) this.#discard(outcome.error);
    else this.#queueUpdate();
  }

  /** The record of refused requests takes the place of this one. */
  #discard(error: string): void {
    this.#outbox.discard(this);
    const { refusedRequest } = this.#context;
    refusedRequest.hasRecord = false;
    refusedRequest.message ??= error;
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

  get mayBeRefused(): boolean {
    const hasBegun = this.#leasedAt > 0 || this.failureCount > 0 || this.#outcome !== null;
    return !hasBegun && isRefusalRecorded(this.#context);
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
    const { history: mode } = this.#context.facts;
    if (mode === "no_texts") return { messages: "[]", prompt: "", options: "" };
    const redact = (text: string) => redactForHistory(text, mode);
    return {
      messages: serializeMessages(conversation.messages, redact),
      prompt: limitForHistory(prompt, mode, MAX_PROMPT),
      options: serializeOptions(conversation, mode === undefined ? null : redact),
    };
  }

  #archiveAnswer(): Omit<HistoryWrite, "request"> {
    const { rawText, rawReasoning } = this.#running.output;
    const { history: mode } = this.#context.facts;
    return {
      summary: this.#createSummary(),
      reasoning: limitForHistory(rawReasoning, mode, MAX_OUTPUT),
      content: limitForHistory(rawText, mode, MAX_OUTPUT),
    };
  }

  #createSummary(): HistorySummary {
    return createHistorySummary({
      ...this.#running,
      id: this.#id,
      context: this.#context,
      retries: this.#retries,
      account: this.#account,
      leasedAt: this.#leasedAt,
      failedAttempts: this.#tried,
      signIns: this.#signIns,
      outcome: this.#outcome,
      endedAt: this.#endedAt,
      pricing: this.#pricing,
    });
  }
}
