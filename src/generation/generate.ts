import { type Access, openAccess } from "../accounts/access.ts";
import { renewLease } from "../accounts/lease-renewal.ts";
import type { Caller } from "../auth/callers.ts";
import { type Conversation, requiresTool } from "../conversation/conversation.ts";
import type { FinishReason, GenerationEvent, Usage } from "../conversation/events.ts";
import { estimateTokens } from "../conversation/tokens.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { isAccountFault, ProviderError, providerErrorToGateway } from "../errors/provider-error.ts";
import type { Context } from "../platform/context.ts";
import type { FollowUp, PreparedTurn, UpstreamTurn } from "../provider/provider.ts";
import { Assembler, type TurnEnd } from "./assembler.ts";
import { afterGeneration } from "./cleanup.ts";
import { prepareOptions } from "./prepare-options.ts";
import type { GenerationRecorder } from "./recorder.ts";
import { Watchdog } from "./watchdog.ts";

/** `incomplete` messages are continued this many times (provider protocol). */
const MAX_CONTINUATIONS = 8;

/** Other accounts that are tried when one is refused before anything visible was sent. */
const MAX_FAILOVERS = 2;

/** How long an upstream may keep a body open that has nothing more to say, milliseconds. */
const END_WITHIN_MS = 200;

/** Appended to the prompt of the follow-up turn (contract, general rule 7). */
export const RETRY_SUFFIX =
  "\n\nYour previous reply had no visible content. Regenerate the visible final answer or tool call now.";

/** Where a generation's events go. */
export interface GenerationSink {
  /** Takes the events of one upstream read. A returned promise is waited for before more is read. */
  deliver(events: readonly GenerationEvent[]): Promise<void> | undefined;
}

/** One generation: a conversation on its way to the provider and back. */
export interface GenerationJob {
  readonly context: Context;
  readonly caller: Caller;
  readonly conversation: Conversation;
  readonly recorder: GenerationRecorder;
  /** Aborted when the caller has gone, or when the generation must end. */
  readonly abort: AbortController;
}

/**
 * Runs one conversation to its end: leases an account, opens a turn, moves the upstream's bytes through the stages
 * into the sink, continues what is incomplete, retries once what came up empty, switches accounts where the contract
 * says so (general rule 7), and gives everything back in one `finally`.
 */
export class Generation {
  readonly #job: GenerationJob;
  readonly #sink: GenerationSink;
  readonly #prepared: PreparedTurn;
  readonly assembler: Assembler;
  readonly watchdog: Watchdog;
  #started = false;
  #retries = 0;
  #sessionId = "";

  private constructor(job: GenerationJob, sink: GenerationSink, prepared: PreparedTurn) {
    const { platform } = job.context;
    this.#job = job;
    this.#sink = sink;
    this.#prepared = prepared;
    this.assembler = new Assembler(job.conversation);
    this.watchdog = new Watchdog(
      { firstByteMs: platform.settings.firstByteTimeoutMs, idleMs: platform.settings.idleTimeoutMs },
      () => platform.now(),
      (silence) =>
        job.abort.abort(
          silence === "stalled-reader"
            ? new GatewayError(499, "the client stopped reading", { code: "request_cancelled" })
            : new ProviderError("timeout", "the provider fell silent"),
        ),
    );
  }

  /**
   * Prepares a generation: renders the prompt and fetches attachments before any slot is taken, so that a request at
   * fault costs none.
   *
   * @throws GatewayError 400 for content that the model cannot take, 503 when no provider is configured.
   */
  static async prepare(job: GenerationJob, sink: GenerationSink): Promise<Generation> {
    const { config } = await job.context.config();
    const options = prepareOptions(config, job.conversation, job.context.platform);
    const prepared = job.context.provider().prepare(job.conversation, options);
    await prepared.load?.(job.abort.signal);
    return new Generation(job, sink, prepared);
  }

  /** Everything that the model reads, as one text. */
  get promptText(): string {
    return this.#prepared.promptText;
  }

  /** Estimated tokens of the prompt. */
  estimatedPromptTokens(): number {
    return estimateTokens(this.#prepared.promptText);
  }

  /** Runs to the end. Throws what the caller must be told; the sink never gets an `error` event from here. */
  async run(): Promise<void> {
    const job = this.#job;
    const { context, conversation, recorder } = job;
    recorder.begin(conversation, this.#prepared.promptText, this.assembler);
    const exclude: string[] = [];
    let failure: unknown;
    let failovers = 0;
    let switched = false;
    for (;;) {
      let access: Access;
      try {
        access = await openAccess(context, job.caller, {
          model: conversation.model.id,
          dialect: conversation.dialect,
          exclude,
          signal: job.abort.signal,
        });
      } catch (error) {
        throw this.#asGateway(failure ?? error);
      }
      let again = false;
      const stopRenewal = renewLease(access.lease, job.abort);
      try {
        recorder.account(access.accountId);
        const usage = await this.#attempt(access, switched);
        if (usage !== null) {
          await access.lease?.succeeded().catch(() => undefined);
          return;
        }
        failure = emptyOutput();
        again = !switched && this.#mayChangeAccount(access);
        switched = true;
      } catch (error) {
        failure = error;
        await this.#blame(access, error);
        again =
          error instanceof ProviderError &&
          isAccountFault(error.kind) &&
          !this.assembler.answered &&
          this.#mayChangeAccount(access) &&
          failovers < MAX_FAILOVERS;
        failovers += 1;
      } finally {
        stopRenewal();
        this.watchdog.stop();
        access.lease?.release();
        afterGeneration(context, access, this.#sessionId);
      }
      if (!again || job.abort.signal.aborted) throw this.#asGateway(failure);
      this.#retries += 1;
      context.log.retries = this.#retries;
      exclude.push(access.accountId);
    }
  }

  /** Only a managed request that pins no account may go to another one. */
  #mayChangeAccount(access: Access): boolean {
    return access.lease !== null && this.#job.caller.targetAccount === null;
  }

  /** One account's attempt: a turn, and at most one follow-up. Null: it came up empty. */
  async #attempt(access: Access, switched: boolean): Promise<Usage | null> {
    const { conversation } = this.#job;
    let end = await this.#turn(access, null);
    if (end.empty && end.reason !== "content_filter") {
      if (switched) return null;
      this.#retries += 1;
      this.#job.context.log.retries = this.#retries;
      end = await this.#turn(access, {
        sessionId: this.#sessionId,
        parentMessageId: this.assembler.messageId,
        suffix: RETRY_SUFFIX,
      });
      if (end.empty && end.reason !== "content_filter") return null;
    }
    if (requiresTool(conversation) && this.assembler.calls === 0) {
      throw new GatewayError(422, "tool_choice requires a tool call, but the model made none", {
        code: "tool_choice_violation",
        param: "tool_choice",
      });
    }
    const usage = this.assembler.usage(this.#prepared.promptText);
    await this.#deliver([{ type: "finish", reason: this.#finishReason(end), usage }]);
    return usage;
  }

  #finishReason(end: TurnEnd): FinishReason {
    if (this.assembler.calls > 0) return "tool_calls";
    if (end.reason === "length" || end.reason === "incomplete") return "length";
    return end.reason === "content_filter" ? "content_filter" : "stop";
  }

  /** One upstream message, continued while it is `incomplete`. */
  async #turn(access: Access, followUp: FollowUp | null): Promise<TurnEnd> {
    const { signal } = this.#job.abort;
    const { account, turn: opened } = await this.#open(access, followUp);
    let turn = opened;
    this.#sessionId = turn.sessionId;
    const provider = this.#job.context.provider();
    for (let continued = 0; ; continued += 1) {
      await this.#pump(turn);
      const incomplete = this.assembler.incomplete;
      if (!incomplete || continued === MAX_CONTINUATIONS) break;
      this.assembler.continueTurn();
      this.watchdog.expect();
      turn = await provider.resume(account, this.#sessionId, this.assembler.messageId, signal);
    }
    const out: GenerationEvent[] = [];
    const end = this.assembler.finishTurn(out);
    this.watchdog.stop();
    if (out.length > 0) await this.#deliver(out);
    return end;
  }

  /** Opens a turn; a token that has expired is renewed once. */
  async #open(access: Access, followUp: FollowUp | null) {
    const { signal } = this.#job.abort;
    // Known before the turn is, so that the session of a turn that fails is cleaned up too.
    const inSession = (id: string) => {
      this.#sessionId = id;
    };
    const { account } = access;
    this.watchdog.expect();
    try {
      return { account, turn: await this.#prepared.open(account, signal, followUp, inSession) };
    } catch (error) {
      this.watchdog.stop();
      if (!(error instanceof ProviderError) || error.kind !== "token_expired") throw error;
      const renewed = await access.refreshed(signal);
      if (renewed === null) throw error;
      this.watchdog.expect();
      const turn = await this.#prepared.open(renewed.account, signal, followUp, inSession);
      return { account: renewed.account, turn };
    }
  }

  /** Moves one upstream body through the stages. The only loop that data goes through. */
  async #pump(turn: UpstreamTurn): Promise<void> {
    const { decoder } = turn;
    const { signal } = this.#job.abort;
    const { recorder } = this.#job;
    const reader = turn.body.getReader();
    let stopped = signal.aborted;
    // A body that does not come from `fetch` (a proxied one) need not know the signal.
    const stop = () => {
      stopped = true;
      reader.cancel(signal.reason).catch(() => undefined);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (stopped) throw signal.reason;
        const now = this.watchdog.heard();
        const events = done ? decoder.finish() : decoder.push(value);
        if (events.length > 0) {
          const out: GenerationEvent[] = [];
          this.assembler.push(events, out);
          recorder.progress(now);
          if (out.length > 0) {
            const delivered = this.#deliver(out);
            if (delivered !== undefined) {
              await delivered;
              this.watchdog.written();
            }
          }
        }
        if (decoder.failure) throw decoder.failure;
        if (done) return;
        if (decoder.ended === true) {
          readToEnd(reader);
          return;
        }
      }
    } catch (error) {
      stop();
      if (signal.aborted) throw signal.reason;
      if (error instanceof ProviderError || error instanceof GatewayError) throw error;
      throw new ProviderError("cut", "the provider's answer broke off", 0, error);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Hands events on. A returned promise is to be waited for; while more is to come the watchdog is told of its end. */
  #deliver(events: GenerationEvent[]): Promise<void> | undefined {
    if (!this.#started) {
      this.#started = true;
      events.unshift({ type: "start", sessionId: this.#sessionId });
      this.#job.context.log.firstTokenMs = this.#job.context.platform.now() - this.#job.context.startedAt;
    }
    const delivered = this.#sink.deliver(events);
    if (delivered !== undefined) this.watchdog.writing();
    return delivered;
  }

  /** Tells the pool what an account did wrong. A client that left is no fault of the account. */
  async #blame(access: Access, error: unknown): Promise<void> {
    if (access.lease === null || !(error instanceof ProviderError) || this.#job.abort.signal.aborted) return;
    if (isAccountFault(error.kind)) await access.lease.failed(error.kind, error.message);
  }

  #asGateway(error: unknown): unknown {
    return error instanceof ProviderError ? providerErrorToGateway(error) : error;
  }
}

/**
 * Lets a body that has said everything come to its end, which leaves its connection fit for the next request; one that
 * does not end is closed.
 */
function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const cancel = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, END_WITHIN_MS);
  reader.read().then(
    ({ done }) => {
      clearTimeout(timer);
      if (!done) cancel();
    },
    () => clearTimeout(timer),
  );
}

function emptyOutput(): GatewayError {
  return new GatewayError(429, "the provider returned no visible output", { code: "upstream_empty_output" });
}
