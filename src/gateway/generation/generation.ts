import { type Conversation, hasAttachments, requiresTool } from "../../core/conversation/conversation.ts";
import type { FinishReason, GenerationEvent, Usage } from "../../core/conversation/events.ts";
import { estimateTokens } from "../../core/conversation/tokens.ts";
import { maskSecrets } from "../../core/encoding/secret-masking.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import {
  ProviderError,
  type ProviderErrorKind,
  providerErrorToGateway,
} from "../../core/errors/provider-error.ts";
import { type ExpectedTokens, MAX_RESERVED_ANSWER } from "../../pool/limits/key-quota.ts";
import type { AccountSession } from "../accounts/account-request.ts";
import { withAccount } from "../accounts/with-account.ts";
import { containsConfiguredSecret } from "../captures/capture-masking.ts";
import { NO_THINKING_SUFFIX } from "../models/catalogue.ts";
import { ImageWithoutVisionError } from "../providers/attachments.ts";
import {
  type FollowUp,
  mayBeTruncated,
  type NativeAnswer,
  type PreparedTurn,
  type ProviderEvent,
  type StreamedTurn,
  type UpstreamTurn,
  type WholeTurn,
} from "../providers/provider.ts";
import { getProvider, type RegisteredProvider } from "../providers/provider-registry.ts";
import { chargeAnswerMemory } from "./answer-memory.ts";
import { Assembler, type TurnEnd } from "./assembler.ts";
import type { GenerationJob } from "./generation-job.ts";
import { rejectUnsupportedOptions, withVisionModel } from "./model-selection.ts";
import { NativeStream } from "./native-stream.ts";
import {
  capMaxTokens,
  type NativeJob,
  namesOtherModels,
  selectAnswerHeaders,
  wantsReasoning,
} from "./native-style.ts";
import { createPrepareOptions } from "./prepare-options.ts";
import { readToEnd } from "./read-to-end.ts";
import { scheduleSessionCleanup } from "./session-cleanup.ts";
import { StallDetector, type StallReason } from "./stall-detector.ts";

/** Most continuations of an `isIncomplete` message (provider protocol). */
const MAX_CONTINUATIONS = 8;

/** Appended to the prompt of the follow-up turn (contract, general rule 7). */
const RETRY_SUFFIX =
  "\n\nYour previous reply had no visible content. Regenerate the visible final answer or tool call now.";

/** Error messages for the caller when the provider times out. */
const STALL_MESSAGES: Readonly<Record<Exclude<StallReason, "stalled-reader">, string>> = {
  "first-byte": "the provider fell silent",
  idle: "the provider fell silent",
  "no-answer": "the provider did not complete its answer in time",
};

/** Receives a generation's events. */
export interface GenerationSink {
  /**
   * Takes the events of one upstream read. `native`: the provider's own bytes, which the caller gets instead of the rendered
   * events. The generation waits for a returned promise before it reads more.
   */
  deliver(events: readonly GenerationEvent[], native?: Uint8Array): Promise<void> | undefined;
  /**
   * Discards all events so far, which the caller has not seen. A sink without it shows events to the caller as they come.
   */
  restart?(): void;
  /** The native stream of which the caller has got bytes. Another one continues it. */
  nativeStream?: NativeStream;
}

/**
 * Runs one conversation to its end: opens a turn with an account and passes the upstream's bytes through the stages to the
 * sink. It continues incomplete messages, retries an answer of reasoning alone once, and asks for another account where the contract
 * says so (general rule 7).
 */
export class Generation {
  readonly #job: GenerationJob;
  readonly #provider: RegisteredProvider;
  readonly #prepared: PreparedTurn;
  /** The request in the provider's own protocol. Null: it is translated. */
  readonly #native: NativeJob | null;
  #nativeStream: NativeStream | null = null;
  /** Events whose bytes are held until the answer has content. */
  #heldEvents: GenerationEvent[] = [];
  #hasSentNativeBytes = false;
  readonly assembler: Assembler;
  readonly stallDetector: StallDetector;
  #cachedPromptText: string | null = null;
  #sink: GenerationSink = noopSink;
  #started = false;
  #hasReceivedData = false;
  #attempts = 0;
  #retries = 0;
  #chatSessionId = "";
  /** The provider's chat sessions that this attempt has created. A turn that is opened again with a fresh token has two. */
  #chatSessions: Promise<string>[] = [];
  /**
   * Aborted when the generation is aborted, or when the provider times out. A timeout ends only the attempt with this
   * account.
   */
  #attempt = new AbortController();
  #accountSession: AccountSession | null = null;
  /** Whether the current attempt's account has begun to answer. */
  #isAnswering = false;

  /** The provider's answer to a native request. Null: the answer is translated, or has not come. */
  nativeAnswer: { readonly headers: Readonly<Record<string, string>>; text: string } | null = null;
  /** Whether the caller has got the provider's own error event. */
  hasSentNativeError = false;

  private constructor(
    job: GenerationJob,
    provider: RegisteredProvider,
    prepared: PreparedTurn,
    native: NativeJob | null,
  ) {
    const { platform, timers } = job.context;
    const { answerTimeoutMs, firstByteTimeoutMs, idleTimeoutMs } = provider.timeouts;
    this.#job = job;
    this.#provider = provider;
    this.#prepared = prepared;
    this.#native = native;
    this.assembler = new Assembler(native === null ? job.conversation : toObserved(job.conversation));
    this.stallDetector = new StallDetector(
      {
        firstByteMs: prepared.whole === true ? answerTimeoutMs : firstByteTimeoutMs,
        idleMs: idleTimeoutMs,
        answerMs: answerTimeoutMs,
      },
      () => platform.now(),
      timers,
      (stallReason) => {
        if (stallReason !== "stalled-reader") {
          this.#attempt.abort(new ProviderError("timeout", STALL_MESSAGES[stallReason]));
          return;
        }
        job.abort.abort(new GatewayError(499, "the client stopped reading", { code: "request_cancelled" }));
      },
    );
  }

  /**
   * Prepares a generation: renders the prompt and fetches attachments before a slot is acquired, so that an invalid request
   * uses none.
   *
   * @throws GatewayError 400 for content that the model cannot take, 503 when no provider is configured
   */
  static async prepare(job: GenerationJob): Promise<Generation> {
    const { context, conversation } = job;
    const { config } = await context.config();
    const provider = getProvider(context.platform, config, conversation.model.provider);
    const options = createPrepareOptions(config, conversation, context);
    const load = async (currentJob: GenerationJob) => {
      const translate = () => {
        if (currentJob.native?.translationError !== undefined) throw currentJob.native.translationError;
        // Requests in the provider's own protocol were not checked before.
        if (currentJob.native !== undefined)
          rejectUnsupportedOptions(currentJob.conversation, provider.api.capabilities);
        return provider.api.prepare(currentJob.conversation, options);
      };
      const native = selectNativePath(currentJob, provider, translate);
      if (native !== null) return new Generation(currentJob, provider, native.prepared, native.job);
      const prepared = translate();
      // Most conversations have no attachment. Then no native signal is created.
      if (hasAttachments(currentJob.conversation)) await prepared.load?.(currentJob.abort.signal);
      return new Generation(currentJob, provider, prepared, null);
    };
    return load(job).catch((error: unknown) => {
      const visionConversation = withVisionModel(conversation);
      if (
        !(error instanceof ImageWithoutVisionError) ||
        visionConversation.model.id === conversation.model.id
      )
        throw error;
      // Only the loaded attachment shows that its URL leads to an image.
      context.log.model = visionConversation.model.id;
      job.recording?.setConversation(visionConversation);
      return load({ ...job, conversation: visionConversation });
    });
  }

  /** The job. Its conversation names the model that answers, which may be another one than requested (vision). */
  get job(): GenerationJob {
    return this.#job;
  }

  /** Whether the caller has got a part of the answer that no other answer can follow. */
  get hasVisibleOutput(): boolean {
    return this.assembler.hasVisibleOutput || (this.#hasSentNativeBytes && !this.#canContinueStream);
  }

  /** Whether another answer can follow the bytes that were sent: they are only reasoning, and the style allows it. */
  get #canContinueStream(): boolean {
    return this.#native?.style.canContinueStream === true && this.assembler.rawReasoning !== "";
  }

  /** Whether the caller gets the answer in one piece, not as a stream. */
  get #isUnstreamed(): boolean {
    return this.#sink.restart !== undefined;
  }

  /** The text that the model reads. It is built from the whole conversation, so it is cached. */
  get #promptText(): string {
    this.#cachedPromptText ??= this.#prepared.promptText;
    return this.#cachedPromptText;
  }

  /** Estimated tokens of the prompt. */
  estimatedPromptTokens(): number {
    return estimateTokens(this.#promptText);
  }

  /** The usage so far; null when the provider has not begun to answer. */
  usageSoFar(): Usage | null {
    return this.#hasReceivedData
      ? this.#logImplausibleUsage(this.assembler.usageSoFar(this.#promptText))
      : null;
  }

  /** Returns `usage` unchanged. Logs if the provider stated implausible counts. */
  #logImplausibleUsage(usage: Usage): Usage {
    if (this.assembler.hasImplausibleUsage) this.#job.context.log.usageRefused = true;
    return usage;
  }

  /** Runs to the end. Throws the caller's error; the sink never gets an `error` event from here. */
  async run(sink: GenerationSink): Promise<void> {
    this.#sink = sink;
    const { context, caller, conversation, recording, hooks, abort } = this.#job;
    const promptText = this.#promptText;
    context.log.answerPath = this.#native === null ? "translated" : "native";
    recording?.start(promptText, this.assembler);
    for (const hook of hooks.beforeSlot) await hook({ context, caller, conversation, promptText });
    try {
      await withAccount(
        {
          context,
          caller,
          provider: this.#provider,
          model: conversation.model.id,
          retries: this.#job.retries,
          ...(this.#job.failFast === true ? { waitMs: 0 } : {}),
          dialect: conversation.dialect,
          ...(this.#job.turn === undefined ? {} : { turn: this.#job.turn }),
          abort,
          estimateUsage: () => estimateUsage(conversation, promptText),
          canRetry: () => !this.hasVisibleOutput || this.#isUnstreamed,
          shouldTryAnotherAccount: (failure) => this.#mayTryAnotherAccount(failure),
          onAccountFailed: (account, failure) =>
            recording?.recordAccountFailure(account, failure, conversation.model),
          onSignInWait: (account, startedAt) => recording?.recordSignInWait(account, startedAt),
        },
        (session) => this.#runAttempt(session),
      );
    } catch (error) {
      throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
    }
  }

  /** After an empty answer, one other account is tried (contract, general rule 7). */
  #mayTryAnotherAccount(failure: unknown): boolean {
    return failure instanceof GatewayError && failure.code === "upstream_empty_output";
  }

  /** The attempt with one account: a turn, and at most one follow-up turn. */
  async #runAttempt(session: AccountSession): Promise<void> {
    const { context, recording, abort } = this.#job;
    if (this.#attempts > 0) this.#discardAttempt();
    this.#accountSession = session;
    this.#isAnswering = false;
    this.#attempts += 1;
    this.#chatSessionId = "";
    this.#chatSessions = [];
    recording?.recordAccount(session.accountId);
    const attempt = this.#attempts === 1 ? this.#attempt : new AbortController();
    const stop = () => attempt.abort(abort.reason);
    this.#attempt = attempt;
    abort.addEventListener("abort", stop);
    this.stallDetector.beginAttempt();
    try {
      abort.throwIfAborted();
      await this.#runTurns(session);
    } finally {
      abort.removeEventListener("abort", stop);
      this.stallDetector.stop();
      scheduleSessionCleanup(context, this.#provider.api, session.account, this.#chatSessions);
    }
  }

  async #runTurns(session: AccountSession): Promise<void> {
    const { conversation } = this.#job;
    let end = await this.#runTurn(session, null);
    if (this.#lacksAnswer(end)) {
      // A native request cannot be extended, so another account or provider gets it.
      const { retries } = this.#job;
      const canFollowUp = this.#native === null && retries.countTaken("answer_account") === 0;
      if (!canFollowUp || !retries.take("answer", emptyOutputError())) throw emptyOutputError();
      this.#countRetry();
      end = await this.#runTurn(session, {
        sessionId: this.#chatSessionId,
        parentMessageId: this.assembler.messageId,
        suffix: RETRY_SUFFIX,
      });
      if (this.#lacksAnswer(end)) throw emptyOutputError();
    }
    if (this.#lacksRequiredCall(conversation)) {
      const cause = mayBeTruncated(end.reason)
        ? "the answer was cut off before one was complete"
        : this.assembler.hasOmittedCall
          ? "the model called another function"
          : "the model made none";
      throw new GatewayError(422, `tool_choice requires a tool call, but ${cause}`, {
        code: "tool_choice_violation",
        param: "tool_choice",
      });
    }
    const usage = this.#logImplausibleUsage(this.assembler.usage(this.#promptText));
    const reason = this.#finishReason(end);
    const { stopSequence } = this.assembler;
    const stopFields = reason === "stop" && stopSequence !== undefined ? { stopSequence } : {};
    const sources = this.assembler.sources();
    const rest = sources === null ? {} : { sources };
    const { accountStateIds } = this.assembler;
    if (accountStateIds.size > 0) {
      const { recordAccountStates } = await import("./account-states.ts");
      await recordAccountStates(this.#job, session.accountId, accountStateIds);
    }
    const heldEvents = this.#heldEvents;
    this.#heldEvents = [];
    const finish = { type: "finish", reason, ...stopFields, usage, ...rest } as const;
    await this.#deliver([...heldEvents, finish], this.#nativeStream?.finish());
  }

  /**
   * Whether the model only reasoned, without text and without a call (contract, general rule 7). The end of a native stream
   * that shows reasoning and cannot be continued is passed on as it is.
   */
  #lacksAnswer(end: TurnEnd): boolean {
    const { rawReasoning, hasServerTool } = this.assembler;
    if (!isEmptyAnswer(end) || rawReasoning === "" || hasServerTool) return false;
    return this.#native === null || this.#isUnstreamed || this.#native.style.canContinueStream;
  }

  /** Whether the answer has no tool call although the request demands one. A native answer's named tool is not checked. */
  #lacksRequiredCall(conversation: Conversation): boolean {
    const { endedCalls, hasRefused, hasServerTool } = this.assembler;
    if (!requiresTool(conversation) || endedCalls > 0 || hasRefused) return false;
    return this.#native === null || (conversation.toolChoice.type === "required" && !hasServerTool);
  }

  /** Discards the result of the previous attempt. */
  #discardAttempt(): void {
    this.#countRetry();
    this.assembler.reset();
    this.#nativeStream = null;
    this.nativeAnswer = null;
    this.#heldEvents = [];
    if (this.#sink.restart === undefined) return;
    this.#sink.restart();
    this.#started = false;
  }

  #countRetry(): void {
    this.#retries += 1;
    this.#job.context.log.retries = this.#retries;
  }

  #finishReason(end: TurnEnd): FinishReason {
    if (end.reason === "length" || end.reason === "incomplete") return "length";
    if (end.reason === "content_filter") return end.reason;
    return this.assembler.endedCalls > 0 ? "tool_calls" : "stop";
  }

  /** Reads one upstream message, and continues it while it is `isIncomplete`. */
  async #runTurn(session: AccountSession, followUp: FollowUp | null): Promise<TurnEnd> {
    const { signal } = this.#attempt;
    const { api } = this.#provider;
    let turn = await this.#openTurn(session, followUp);
    this.#chatSessionId = turn.sessionId;
    const { dropped = [] } = turn;
    if (dropped.length > 0) this.#job.context.log.droppedParams = [...new Set(dropped)].join(",");
    // A provider may stream or not, regardless of the request. Then the answer has to be rendered.
    if (turn.native !== undefined && this.#native !== null && "read" in turn === this.#isUnstreamed)
      this.#beginNativeAnswer(turn.native, this.#native);
    else this.#job.context.log.answerPath = "translated";
    for (let continued = 0; ; continued += 1) {
      await ("read" in turn ? this.#readCompleteAnswer(turn) : this.#readStream(turn));
      if (!this.assembler.isIncomplete || api.resume === undefined) break;
      if (continued === MAX_CONTINUATIONS) break;
      this.assembler.continueTurn();
      this.stallDetector.beginTurn();
      turn = await api.resume(session.account, this.#chatSessionId, this.assembler.messageId, signal);
    }
    const out: GenerationEvent[] = [];
    const end = this.assembler.finishTurn(out);
    if (this.#nativeStream !== null) this.#heldEvents.push(...out);
    else if (out.length > 0) await this.#deliver(out);
    return end;
  }

  #openTurn(session: AccountSession, followUp: FollowUp | null): Promise<UpstreamTurn> {
    const { signal } = this.#attempt;
    // The driver reports the chat session before the turn opens, so that the session of a failed turn is deleted too.
    const onChatSession = (chatSession: Promise<string>) => this.#chatSessions.push(chatSession);
    return session.runWithToken(async (account) => {
      this.stallDetector.beginTurn();
      try {
        return await this.#prepared.open(account, signal, followUp, onChatSession);
      } catch (error) {
        this.stallDetector.stop();
        throw error;
      }
    });
  }

  #beginNativeAnswer({ headers }: NativeAnswer, { style, hidesUsageEvent = false }: NativeJob): void {
    const { model } = this.#job.conversation;
    this.nativeAnswer = { headers: selectAnswerHeaders(headers, style), text: "" };
    if (this.#isUnstreamed) return;
    const { modelPaths } = style;
    this.#nativeStream = new NativeStream({
      modelPaths,
      model: style.echoedModel(model),
      hidesUsageEvent,
      continued: this.#sink.nativeStream ?? null,
    });
  }

  /** Passes an unstreamed answer through the stages. */
  async #readCompleteAnswer(turn: WholeTurn): Promise<void> {
    const delivery = this.#processEvents(await turn.read());
    if (this.nativeAnswer !== null) this.nativeAnswer.text = turn.text?.() ?? "";
    if (delivery !== undefined) await delivery;
  }

  /** Delivers the events of one read together with its bytes, once the answer has content. */
  #deliverNative(events: readonly ProviderEvent[], bytes: Uint8Array): Promise<void> | undefined {
    this.#hasReceivedData = true;
    this.assembler.push(events, this.#heldEvents);
    if (bytes.length === 0) return undefined;
    const out = this.#heldEvents;
    this.#heldEvents = [];
    this.#hasSentNativeBytes = true;
    if (this.#nativeStream !== null) this.#sink.nativeStream = this.#nativeStream;
    return this.#deliver(out, bytes);
  }

  /** Delivers the provider's own error event, unless it is about the account or contains its token. */
  async #deliverNativeError(error: unknown, bytes: Uint8Array, token: string): Promise<void> {
    const stream = this.#nativeStream;
    if (stream === null || !(error instanceof ProviderError) || !STATED_ERRORS.has(error.kind)) return;
    // After reasoning alone, another account or provider may still answer.
    if (!this.#hasSentNativeBytes || !this.hasVisibleOutput) return;
    const event = error.kind === "cut" ? stream.takeAppendedError() : stream.push(bytes, true);
    if (event === null || event.length === 0) return;
    const text = new TextDecoder().decode(event);
    if (maskSecrets(text, [token]) !== text || containsConfiguredSecret(this.#provider.headers, text)) return;
    this.hasSentNativeError = true;
    await this.#deliver([], event);
  }

  /** Passes one upstream body through the stages. All streamed data goes through this loop. */
  async #readStream(turn: StreamedTurn): Promise<void> {
    const { decoder } = turn;
    const { signal } = this.#attempt;
    const { recording } = this.#job;
    const reader = turn.body.getReader();
    let stopped = signal.aborted;
    let lastRead: Uint8Array = NO_BYTES;
    let contentBefore = 0;
    // A body that does not come from `fetch` (a proxied one) may ignore the signal.
    const stop = () => {
      stopped = true;
      reader.cancel(signal.reason).catch(() => undefined);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (stopped) throw signal.reason;
        const now = this.stallDetector.recordData();
        lastRead = value ?? lastRead;
        const events = done ? decoder.finish() : decoder.push(value);
        const native = this.#nativeStream;
        const failure = decoder.failure ?? null;
        if (events.length > 0 || native !== null) {
          // The bytes of a failure and of the end follow when the generation knows the outcome.
          const isHeld = native === null || done || failure !== null || decoder.ended === true;
          const { contentEvents = 0 } = decoder;
          const bytes = isHeld ? NO_BYTES : native.push(value, contentEvents > 0);
          // Comments and pings are no content, however many come.
          if (contentEvents > contentBefore) this.#reportContent();
          contentBefore = contentEvents;
          if (isHeld && native !== null && !done && failure === null) native.hold(value);
          const delivery = native === null ? this.#processEvents(events) : this.#deliverNative(events, bytes);
          recording?.refreshIfDue(now);
          if (delivery !== undefined) {
            await delivery;
            this.stallDetector.endWrite();
          }
        }
        if (failure !== null) throw failure;
        if (done) return;
        if (decoder.ended === true) {
          native?.dropFragment();
          readToEnd(reader);
          return;
        }
      }
    } catch (error) {
      if (!signal.aborted)
        await this.#deliverNativeError(error, lastRead, this.#accountSession?.account.token ?? "");
      stop();
      if (signal.aborted) throw signal.reason;
      if (error instanceof ProviderError || error instanceof GatewayError) throw error;
      throw new ProviderError("cut", "the provider's answer broke off", 0, error);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Passes the provider's events through the stages. The caller must wait for a returned promise. */
  #processEvents(events: readonly ProviderEvent[]): Promise<void> | undefined {
    this.#hasReceivedData = true;
    if (events.some(isAnswerContent)) this.#reportContent();
    const out: GenerationEvent[] = [];
    this.assembler.push(events, out);
    return out.length > 0 ? this.#deliver(out) : undefined;
  }

  #reportContent(): void {
    // An unstreamed answer has one time limit, independent of progress: its client may have left unnoticed.
    if (!this.#isUnstreamed) this.stallDetector.recordContent();
    if (!this.#isAnswering) this.#accountSession?.reportAnswering();
    this.#isAnswering = true;
  }

  /**
   * Delivers events to the sink. The caller must wait for a returned promise; it rejects when a stalled reader is given up.
   * While more is to come, the caller must also report the end of the write to the stall detector.
   */
  #deliver(events: GenerationEvent[], native?: Uint8Array): Promise<void> | undefined {
    if (!this.#started) {
      this.#started = true;
      events.unshift({ type: "start", sessionId: this.#chatSessionId });
      const { log, platform, startedAt } = this.#job.context;
      log.firstTokenMs ??= platform.now() - startedAt;
    }
    chargeAnswerMemory(this.#job, events);
    const delivery = this.#sink.deliver(events, native);
    if (delivery !== undefined) this.stallDetector.beginWrite();
    return delivery;
  }
}

const NO_BYTES = new Uint8Array();

/** Failures that a provider states itself and that are not about its account. */
const STATED_ERRORS: ReadonlySet<ProviderErrorKind> = new Set([
  ...(["not_found", "too_large", "model_unavailable", "invalid_request", "context_length"] as const),
  ...(["content_filter", "server_error", "cut"] as const),
]);

/** The native request and its preparation, if the provider speaks the caller's protocol. Null: it must be translated. */
function selectNativePath(
  { native: job, conversation, caller, guard }: GenerationJob,
  { api: { native } }: RegisteredProvider,
  translate: () => PreparedTurn,
): { readonly job: NativeJob; readonly prepared: PreparedTurn } | null {
  if (job === undefined || native?.speaks(job.request.dialect) !== true || !native.accepts(conversation))
    return null;
  // The caller's own text has not been masked, and the provider's bytes cannot be checked.
  if (guard !== undefined) return null;
  const allowedModels = caller.key?.entry.models ?? [];
  if (allowedModels.length > 0 && namesOtherModels(job)) return null;
  // The variant without thinking changes the request.
  const { id, thinking, output } = conversation.model;
  if (id.endsWith(NO_THINKING_SUFFIX) || (!thinking && wantsReasoning(job))) return null;
  return { job, prepared: native.prepare(capMaxTokens(job, output), conversation, translate) };
}

/** The conversation whose native answer is only observed: nothing in it is searched for markup, withheld or cut. */
function toObserved(conversation: Conversation): Conversation {
  return {
    ...conversation,
    tools: [],
    parallelToolCalls: true,
    thinking: true,
    showReasoning: true,
    sampling: {},
    stream: false,
  };
}

/** The expected usage of an answer. Most answers are shorter than their limit. */
function estimateUsage({ sampling }: Conversation, promptText: string): ExpectedTokens {
  const answer = Math.min(sampling.maxTokens ?? MAX_RESERVED_ANSWER, MAX_RESERVED_ANSWER) * (sampling.n ?? 1);
  return { prompt: estimateTokens(promptText), answer };
}

/** Whether an event is part of an answer. `start` and `usage` do not count: some providers send them and then fail. */
function isAnswerContent({ type }: ProviderEvent): boolean {
  return type !== "start" && type !== "usage" && type !== "account-state";
}

/** The sink before the generation runs. */
const noopSink: GenerationSink = { deliver: () => undefined };

/**
 * Whether a turn finished with neither text nor a call. An answer withheld by a filter or cut off by a limit is not empty:
 * a retry would end the same way, and the caller gets the reason.
 */
function isEmptyAnswer({ isEmpty, reason }: TurnEnd): boolean {
  return isEmpty && !mayBeTruncated(reason);
}

function emptyOutputError(): GatewayError {
  return new GatewayError(429, "the provider returned no visible output", { code: "upstream_empty_output" });
}
