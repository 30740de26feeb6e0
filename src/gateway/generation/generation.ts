import type { GenerationEvent, Usage } from "../../core/conversation/events.ts";
import { estimateTokens } from "../../core/conversation/tokens.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import { onAbort } from "../../core/http/abort-signals.ts";
import { clientStoppedReading } from "../../core/http/client-disconnect.ts";
import type { AccountSession } from "../accounts/account-request.ts";
import { withAccount } from "../accounts/with-account.ts";
import type { ProviderEvent } from "../providers/answers/provider-events.ts";
import type {
  FollowUp,
  NativeAnswer,
  PreparedTurn,
  StreamedTurn,
  UpstreamTurn,
  WholeTurn,
} from "../providers/answers/upstream-turn.ts";
import type { RegisteredProvider } from "../providers/provider-registry.ts";
import { AccountAttempt } from "./account-attempt.ts";
import { chargeAnswerMemory } from "./answer-memory.ts";
import {
  assertRequiredCall,
  createFinishEvent,
  emptyOutputError,
  hasOnlyReasoned,
  isAnswerContent,
  isEmptyOutputError,
} from "./assembly/answer-checks.ts";
import { Assembler, type TurnEnd } from "./assembly/assembler.ts";
import type { GenerationJob } from "./generation-job.ts";
import { type GenerationSink, noopSink } from "./generation-sink.ts";
import { NativeRelay } from "./native/native-relay.ts";
import { toObserved } from "./native/native-selection.ts";
import { type NativeJob, selectAnswerHeaders } from "./native/native-style.ts";
import { estimateUsage } from "./preparation/expected-usage.ts";
import { readBody, readToEnd } from "./provider-body.ts";
import { scheduleSessionCleanup } from "./session-cleanup.ts";
import { StallDetector, type StallReason } from "./stall-detector.ts";

/** Most continuations of an `isIncomplete` message (provider protocol). */
const MAX_CONTINUATIONS = 8;

/** Appended to the prompt of the follow-up turn (docs/contract.md, general rule 7). */
const RETRY_SUFFIX =
  "\n\nYour previous reply had no visible content. Regenerate the visible final answer or tool call now.";

/** Error messages for the caller when the provider times out. */
const STALL_MESSAGES: Readonly<Record<Exclude<StallReason, "stalled-reader">, string>> = {
  "first-byte": "the provider fell silent",
  idle: "the provider fell silent",
  "no-answer": "the provider did not complete its answer in time",
};

/**
 * Runs one conversation to its end: opens a turn with an account and passes the upstream's bytes through the stages to the
 * sink. It continues incomplete messages, retries an answer of reasoning alone once, and asks for another account where
 * the contract says so (general rule 7).
 */
export class Generation {
  readonly #job: GenerationJob;
  readonly #provider: RegisteredProvider;
  readonly #prepared: PreparedTurn;
  /** The request in the provider's own protocol. Null: it is translated. */
  readonly #native: NativeJob | null;
  #relay: NativeRelay | null = null;
  #hasSentNativeBytes = false;
  readonly assembler: Assembler;
  readonly stallDetector: StallDetector;
  #cachedPromptText: string | null = null;
  #sink: GenerationSink = noopSink;
  #started = false;
  #hasReceivedData = false;
  #attempts = 0;
  #retries = 0;
  /** Null: no account was leased yet. */
  #attempt: AccountAttempt | null = null;
  /** The provider's answer to a native request. Null: the answer is translated, or has not come. */
  nativeAnswer: { readonly headers: Readonly<Record<string, string>>; text: string } | null = null;

  constructor(
    job: GenerationJob,
    provider: RegisteredProvider,
    prepared: PreparedTurn,
    native: NativeJob | null,
  ) {
    const { platform } = job.context;
    const { answerTimeoutMs, firstByteTimeoutMs, idleTimeoutMs } = provider.timeouts;
    this.#job = job;
    this.#provider = provider;
    this.#prepared = prepared;
    this.#native = native;
    this.assembler = new Assembler(native === null ? job.conversation : toObserved(job.conversation));
    const firstByteMs = prepared.whole === true ? answerTimeoutMs : firstByteTimeoutMs;
    this.stallDetector = new StallDetector(
      { firstByteMs, idleMs: idleTimeoutMs, answerMs: answerTimeoutMs },
      () => platform.now(),
      (reason) => {
        if (reason === "stalled-reader") job.abort.abort(clientStoppedReading());
        else this.#attempt?.controller.abort(new ProviderError("timeout", STALL_MESSAGES[reason]));
      },
    );
  }

  /** The job. Its conversation names the model that answers, which may be another one than requested (vision). */
  get job(): GenerationJob {
    return this.#job;
  }

  /** Whether the caller has got a part of the answer that no other answer can follow. */
  get hasVisibleOutput(): boolean {
    return this.assembler.hasVisibleOutput || (this.#hasSentNativeBytes && !this.#canContinueStream);
  }

  /** How long the current attempt took until its first content, milliseconds. Null: none came, or not as a stream. */
  get firstContentMs(): number | null {
    return this.#attempt?.firstContentMs ?? null;
  }

  /** The stream of the provider's own bytes. Null: the answer is translated, or is not streamed. */
  get relay(): Pick<NativeRelay, "hasSentError" | "hasSentFragment" | "pipedBytes"> | null {
    return this.#relay;
  }

  /** Whether another answer can follow the bytes that were sent: they are only reasoning, and the style allows it. */
  get #canContinueStream(): boolean {
    return this.#native?.style.canContinueStream === true && this.assembler.rawReasoning !== "";
  }

  /** Whether the caller gets the answer in one piece, not as a stream. */
  get #isWhole(): boolean {
    return this.#sink.delivery === "whole";
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
      ? this.#noteImplausibleUsage(this.assembler.usageSoFar(this.#promptText))
      : null;
  }

  /** Returns `usage` unchanged. Notes in the facts if the provider stated implausible counts. */
  #noteImplausibleUsage(usage: Usage): Usage {
    if (this.assembler.hasImplausibleUsage) this.#job.context.facts.usageRefused = true;
    return usage;
  }

  /** Runs to the end. Throws the caller's error; the sink never gets an `error` event from here. */
  async run(sink: GenerationSink): Promise<void> {
    this.#sink = sink;
    const { context, caller, conversation, recording, abort } = this.#job;
    const promptText = this.#promptText;
    context.facts.answerPath = this.#native === null ? "translated" : "native";
    recording?.start(promptText, this.assembler);
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
          canRetry: () => !this.hasVisibleOutput || this.#isWhole,
          // After an empty answer, one other account is tried (docs/contract.md, general rule 7).
          shouldTryAnotherAccount: isEmptyOutputError,
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

  /** The attempt with one account: a turn, and at most one follow-up turn. */
  async #runAttempt(session: AccountSession): Promise<void> {
    const { context, recording, abort } = this.#job;
    if (this.#attempts > 0) this.#discardAttempt();
    this.#attempts += 1;
    const attempt = new AccountAttempt(session, () => context.platform.now());
    this.#attempt = attempt;
    recording?.recordAccount(session.accountId);
    const stop = onAbort(abort.signal, () => attempt.controller.abort(abort.signal.reason));
    this.stallDetector.beginAttempt();
    try {
      abort.signal.throwIfAborted();
      await this.#runTurns(attempt);
    } finally {
      stop();
      this.stallDetector.stop();
      scheduleSessionCleanup(context, this.#provider.api, session.account, attempt.chatSessions);
    }
  }

  async #runTurns(attempt: AccountAttempt): Promise<void> {
    const { conversation } = this.#job;
    let end = await this.#runTurn(attempt, null);
    if (this.#lacksAnswer(end)) {
      // A native request cannot be extended, so another account or provider gets it.
      const { retries } = this.#job;
      const canFollowUp = this.#native === null && retries.countTaken("answer_account") === 0;
      if (!canFollowUp || !retries.take("answer", emptyOutputError())) throw emptyOutputError();
      this.#countRetry();
      end = await this.#runTurn(attempt, {
        sessionId: attempt.chatSessionId,
        parentMessageId: this.assembler.messageId,
        suffix: RETRY_SUFFIX,
      });
      if (this.#lacksAnswer(end)) throw emptyOutputError();
    }
    assertRequiredCall(conversation, this.assembler, end, this.#native !== null);
    const usage = this.#noteImplausibleUsage(this.assembler.usage(this.#promptText));
    const { accountStateIds } = this.assembler;
    if (accountStateIds.size > 0) {
      const { recordAccountStates } = await import("./account-states.ts");
      await recordAccountStates(this.#job, attempt.session.accountId, accountStateIds);
    }
    const finish = createFinishEvent(this.assembler, end, usage);
    const held = this.#relay?.finish();
    await this.#deliver([...(held?.events ?? []), finish], held?.bytes);
  }

  /**
   * Whether the model only reasoned (docs/contract.md, general rule 7). The end of a native stream that shows reasoning
   * and cannot be continued is passed on as it is.
   */
  #lacksAnswer(end: TurnEnd): boolean {
    if (!hasOnlyReasoned(this.assembler, end)) return false;
    return this.#native === null || this.#isWhole || this.#native.style.canContinueStream;
  }

  /** Discards the result of the previous attempt. */
  #discardAttempt(): void {
    this.#countRetry();
    this.assembler.reset();
    this.#relay = null;
    this.nativeAnswer = null;
    if (this.#sink.delivery === "stream") return;
    this.#sink.restart();
    this.#started = false;
  }

  #countRetry(): void {
    this.#retries += 1;
    this.#job.context.facts.retries = this.#retries;
  }

  /** Reads one upstream message, and continues it while it is `isIncomplete`. */
  async #runTurn(attempt: AccountAttempt, followUp: FollowUp | null): Promise<TurnEnd> {
    const { session, controller } = attempt;
    const { api } = this.#provider;
    let turn = await this.#openTurn(attempt, followUp);
    attempt.chatSessionId = turn.sessionId;
    const { dropped = [] } = turn;
    if (dropped.length > 0) this.#job.context.facts.droppedParams = [...new Set(dropped)].join(",");
    // A provider may stream or not, regardless of the request. Then the answer has to be rendered.
    if (turn.native !== undefined && this.#native !== null && "read" in turn === this.#isWhole)
      this.#beginNativeAnswer(turn.native, this.#native, attempt);
    else this.#job.context.facts.answerPath = "translated";
    for (let continued = 0; ; continued += 1) {
      if ("read" in turn) await this.#readCompleteAnswer(turn);
      else await (this.#relay?.read(turn) ?? this.#readStream(turn, controller.signal));
      if (!this.assembler.isIncomplete || api.resume === undefined) break;
      if (continued === MAX_CONTINUATIONS) break;
      this.assembler.continueTurn();
      this.stallDetector.beginTurn();
      const { messageId } = this.assembler;
      turn = await api.resume(session.account, attempt.chatSessionId, messageId, controller.signal);
    }
    const out: GenerationEvent[] = [];
    const end = this.assembler.finishTurn(out);
    if (this.#relay !== null) this.#relay.hold(out);
    else if (out.length > 0) await this.#deliver(out);
    return end;
  }

  #openTurn(
    { session, controller, chatSessions }: AccountAttempt,
    followUp: FollowUp | null,
  ): Promise<UpstreamTurn> {
    // The driver reports the chat session before the turn opens, so that the session of a failed turn is deleted too.
    const onChatSession = (chatSession: Promise<string>) => chatSessions.push(chatSession);
    return session.runWithToken(async (account) => {
      this.stallDetector.beginTurn();
      try {
        return await this.#prepared.open(account, controller.signal, followUp, onChatSession);
      } catch (error) {
        this.stallDetector.stop();
        throw error;
      }
    });
  }

  #beginNativeAnswer({ headers }: NativeAnswer, native: NativeJob, attempt: AccountAttempt): void {
    this.nativeAnswer = { headers: selectAnswerHeaders(headers, native.style), text: "" };
    const sink = this.#sink;
    if (sink.delivery === "whole") return;
    this.#relay = new NativeRelay({
      job: this.#job,
      native,
      sink,
      provider: this.#provider,
      token: attempt.session.account.token,
      assembler: this.assembler,
      stallDetector: this.stallDetector,
      attempt: attempt.controller,
      hasVisibleOutput: () => this.hasVisibleOutput,
      reportData: () => {
        this.#hasReceivedData = true;
      },
      reportContent: () => this.#reportContent(false),
      deliver: (events, bytes) => {
        if (bytes.length > 0) this.#hasSentNativeBytes = true;
        return this.#deliver(events, bytes);
      },
    });
  }

  /** Passes an unstreamed answer through the stages. */
  async #readCompleteAnswer(turn: WholeTurn): Promise<void> {
    const delivery = this.#processEvents(await turn.read(), true);
    if (this.nativeAnswer !== null) this.nativeAnswer.text = turn.text?.() ?? "";
    if (delivery !== undefined) await delivery;
  }

  /** Passes one upstream body through the stages. Native streams go through a {@link NativeRelay} instead. */
  async #readStream({ body, decoder }: StreamedTurn, signal: AbortSignal): Promise<void> {
    const { recording } = this.#job;
    const process = (events: readonly ProviderEvent[]) =>
      events.length > 0 ? this.#processEvents(events) : undefined;
    const hasEnded = await readBody(
      body,
      { signal, stallDetector: this.stallDetector },
      {
        take: (bytes, now) => {
          const delivery = process(decoder.push(bytes));
          recording?.refreshIfDue(now);
          return delivery;
        },
        isOver: () => {
          if (decoder.failure != null) throw decoder.failure;
          return decoder.ended === true;
        },
      },
    );
    if (hasEnded) await process(decoder.finish());
    else readToEnd(body);
  }

  /** Passes the provider's events through the stages. The caller must wait for a returned promise. */
  #processEvents(events: readonly ProviderEvent[], isWhole = false): Promise<void> | undefined {
    this.#hasReceivedData = true;
    if (events.some(isAnswerContent)) this.#reportContent(isWhole);
    const out: GenerationEvent[] = [];
    this.assembler.push(events, out);
    return out.length > 0 ? this.#deliver(out) : undefined;
  }

  #reportContent(isWhole: boolean): void {
    // An unstreamed answer has one time limit, independent of progress: its client may have left unnoticed.
    if (!this.#isWhole) this.stallDetector.recordContent();
    this.#attempt?.reportContent(isWhole);
  }

  /**
   * Delivers events to the sink. The caller must wait for a returned promise; it rejects when a stalled reader is given up.
   * While more is to come, the caller must also report the end of the write to the stall detector.
   */
  #deliver(events: GenerationEvent[], native?: Uint8Array): Promise<void> | undefined {
    if (!this.#started) {
      this.#started = true;
      events.unshift({ type: "start", sessionId: this.#attempt?.chatSessionId ?? "" });
      const { facts, platform, startedAt } = this.#job.context;
      facts.firstTokenMs ??= platform.now() - startedAt;
    }
    chargeAnswerMemory(this.#job, events);
    const delivery = this.#sink.deliver(events, native);
    if (delivery !== undefined) this.stallDetector.beginWrite();
    return delivery;
  }
}
