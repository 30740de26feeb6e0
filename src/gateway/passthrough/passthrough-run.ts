import type { Caller } from "../../core/auth/callers.ts";
import type { Usage } from "../../core/conversation/events.ts";
import type { RawOutput } from "../../core/conversation/outcome.ts";
import { estimateTokens } from "../../core/conversation/tokens.ts";
import { addUsageDetails } from "../../core/conversation/usage-details.ts";
import { concatBytes } from "../../core/encoding/bytes.ts";
import type { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import { clientDisconnected } from "../../core/http/client-disconnect.ts";
import { dataItem, EVENT_STREAM_HEADERS } from "../../core/http/event-stream.ts";
import { withTimeout } from "../../core/ports/clock.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import { errorObject } from "../../core/routing/error-formats.ts";
import type { AccountSession } from "../accounts/account-request.ts";
import { withAccount } from "../accounts/with-account.ts";
import { configuredSecrets } from "../captures/capture-masking.ts";
import { selectRequestHeaders } from "../dialects/shared/native-request.ts";
import { OPENAI_ANSWER_HEADERS, OPENAI_REQUEST_HEADERS } from "../dialects/shared/openai-headers.ts";
import { selectAnswerHeaders } from "../generation/native/native-style.ts";
import { readBody } from "../generation/provider-body.ts";
import type { StallDetector } from "../generation/stall-detector.ts";
import { StreamWriter } from "../generation/stream-writer.ts";
import type { Recording } from "../history/recording.ts";
import { ifDefined } from "../providers/json.ts";
import type { Passthrough } from "../providers/passthrough/passthrough.ts";
import { missingEndpointError } from "../providers/passthrough/passthrough-error.ts";
import { getProvider, type RegisteredProvider } from "../providers/provider-registry.ts";
import { isWhole, mediaTypeOf } from "../providers/transport.ts";
import { AnswerCopy, isText } from "./answer-copy.ts";
import { ErrorMask } from "./error-mask.ts";
import { HeldBytes } from "./held-bytes.ts";
import { PassthroughAttempt } from "./passthrough-attempt.ts";
import type { PassthroughCall } from "./passthrough-call.ts";
import { PASSTHROUGH_STYLE, type Target } from "./targets.ts";

const ANSWER_HEADERS = [...OPENAI_ANSWER_HEADERS, "content-disposition"];
const EVENT_STREAM = "text/event-stream";
/** The HTTP status of every answer that has begun. */
const OK = 200;

/** One request on its way through the gateway: its attempts, its answer, and what is recorded of it. */
export class PassthroughRun implements RawOutput {
  readonly context: Context;
  readonly call: PassthroughCall;
  readonly abort: AbortController;
  readonly retries: RetryBudget;
  readonly rawReasoning = "";
  readonly #caller: Caller;
  readonly #recording: Recording;
  readonly #onBegun: () => void;
  readonly #response = Promise.withResolvers<Response>();
  #writer: StreamWriter | null = null;
  #copy: AnswerCopy | null = null;
  #isEventStream = false;
  #idleMs = 0;
  /** The usage that is in the facts already. */
  #usage: Usage | null = null;
  /** The credentials of the last attempt. */
  #secrets: readonly string[] = [];

  /** @param onBegun called when the caller's answer begins */
  constructor(
    context: Context,
    caller: Caller,
    call: PassthroughCall,
    abort: AbortController,
    recording: Recording,
    retries: RetryBudget,
    onBegun: () => void,
  ) {
    this.context = context;
    this.#caller = caller;
    this.call = call;
    this.abort = abort;
    this.#recording = recording;
    this.retries = retries;
    this.#onBegun = onBegun;
  }

  /** Resolves at the first byte of the answer. Rejects with the error of a request that fails before. */
  get response(): Promise<Response> {
    return this.#response.promise;
  }

  /** Whether the caller's answer has begun: from then on nothing else can answer. */
  get hasBegun(): boolean {
    return this.#writer !== null;
  }

  get rawText(): string {
    return this.#copy?.describe(this.#secrets) ?? "";
  }

  /**
   * Sends the request to one target, with one account after another, and passes its answer through.
   *
   * @param waits whether to wait for a busy account
   */
  async send(target: Target, waits: boolean): Promise<void> {
    const { context, call, abort } = this;
    const { config } = await context.config();
    const provider = getProvider(context.platform, config, target?.provider);
    const { passthrough } = provider.api;
    if (passthrough === undefined) throw missingEndpointError(call.endpoint.path, provider.id);
    await withAccount(
      {
        context,
        caller: this.#caller,
        provider,
        retries: this.retries,
        model: target?.id ?? "",
        dialect: PASSTHROUGH_STYLE,
        abort,
        ...(waits ? {} : { waitMs: 0 }),
        estimateUsage: () => ({ prompt: estimateTokens(call.promptText), answer: 0 }),
        canRetry: () => !this.hasBegun && call.canReplay(),
        onAccountFailed: (account, failure) =>
          this.#recording.recordAccountFailure(account, failure, target ?? undefined),
      },
      (session) => this.#useAccount(session, passthrough, provider, target),
    );
  }

  async #useAccount(
    session: AccountSession,
    passthrough: Passthrough,
    { timeouts, headers: configuredHeaders }: RegisteredProvider,
    target: Target,
  ): Promise<void> {
    const { context, call, abort } = this;
    const { firstByteTimeoutMs, answerTimeoutMs, idleTimeoutMs } = timeouts;
    this.#recording.recordAccount(session.accountId);
    this.#idleMs = idleTimeoutMs;
    const attempt = new PassthroughAttempt(context, abort, {
      firstByteMs: call.stream ? firstByteTimeoutMs : answerTimeoutMs,
      idleMs: idleTimeoutMs,
      answerMs: answerTimeoutMs,
    });
    const request = {
      path: call.endpoint.path,
      model: target,
      headers: {
        ...selectRequestHeaders(context.request, { requestHeaders: OPENAI_REQUEST_HEADERS }),
        "content-type": call.contentType,
      },
      createBody: (model: string) => call.createBody(model, attempt.uploadObserver),
    };
    try {
      const response = call.isHeld
        ? await session.runWithToken((account) => passthrough.send(account, request, attempt.signal))
        : await passthrough.send(session.account, request, attempt.signal);
      this.#secrets = [session.account.token, ...configuredSecrets(configuredHeaders)];
      await this.#passThrough(response, attempt, session);
    } finally {
      attempt.end();
    }
  }

  async #passThrough(
    response: Response,
    attempt: PassthroughAttempt,
    session: AccountSession,
  ): Promise<void> {
    const mediaType = mediaTypeOf(response);
    if (mediaType === "text/html") {
      await response.body?.cancel();
      throw new ProviderError("malformed", "the provider answered with a page", { status: response.status });
    }
    const { stallDetector } = attempt;
    const send = (writer: StreamWriter, bytes: Uint8Array): Promise<void> | undefined => {
      const written = writer.writeBytes(bytes);
      if (written !== undefined) stallDetector.beginWrite();
      return written;
    };
    const held = isWhole(mediaType) && !this.call.stream ? new HeldBytes() : null;
    const mask = new ErrorMask(this.#secrets, mediaType === EVENT_STREAM);
    const maskNext = (bytes: Uint8Array) => (isText(mediaType) ? mask.push(bytes) : bytes);
    let copy: AnswerCopy | null = null;
    const take = (received: Uint8Array) => {
      if (received.length === 0) return undefined;
      stallDetector.recordContent();
      copy ??= this.#startCopy(mediaType);
      session.reportAnswering();
      copy.push(received);
      this.#recording.refreshIfDue(this.context.platform.now());
      if (this.#writer !== null) return send(this.#writer, maskNext(received));
      if (held?.hold(received) === true) return undefined;
      const writer = this.#begin(response, stallDetector);
      return send(writer, maskNext(held === null ? received : concatBytes([held.release(), received])));
    };
    if (response.body !== null) await readBody(response.body, attempt, { take });
    copy ??= this.#startCopy(mediaType);
    if (this.#writer !== null) return send(this.#writer, mask.finish());
    // The headers of a held answer state its cost.
    if (held !== null) this.#recordUsage();
    const writer = this.#begin(response, stallDetector);
    await send(writer, held === null ? mask.finish() : mask.mask(held.release()));
  }

  /** Sets the time of the first byte, and begins the copy. It replaces that of an earlier attempt that broke off. */
  #startCopy(mediaType: string): AnswerCopy {
    const { context } = this;
    context.facts.firstTokenMs = context.platform.now() - context.startedAt;
    this.#isEventStream = mediaType === EVENT_STREAM;
    this.#copy = new AnswerCopy(mediaType);
    return this.#copy;
  }

  /** Begins the caller's answer. */
  #begin(response: Response, stallDetector: StallDetector): StreamWriter {
    const { context, abort } = this;
    this.#onBegun();
    const writer = new StreamWriter(context.platform.variables.keepAliveMs, {
      onRead: (bytes) => stallDetector.recordRead(bytes),
      onDisconnect: () => abort.abort(clientDisconnected()),
    });
    abort.signal.addEventListener("abort", () => writer.rejectPendingWrite(abort.signal.reason));
    this.#writer = writer;
    context.facts.answerPath = "native";
    const headers = {
      ...(this.#isEventStream ? EVENT_STREAM_HEADERS : {}),
      "content-type": response.headers.get("content-type") ?? "application/octet-stream",
      ...selectAnswerHeaders(response.headers, { answerHeaders: ANSWER_HEADERS }),
    };
    this.#response.resolve(new Response(writer.begin(), { headers }));
    return writer;
  }

  /** Records the outcome and ends the answer. `error`: why the request failed; null: it did not. */
  async finish(error: GatewayError | null): Promise<void> {
    const usage = this.#recordUsage();
    const { facts } = this.context;
    if (error !== null) {
      facts.error = error.code;
      facts.errorStatus = error.status;
      if (error.retryAfterSeconds !== undefined) facts.retryAfterSeconds = error.retryAfterSeconds;
    }
    this.#recording.end({
      status: error === null ? "success" : error.status === 499 ? "cancelled" : "error",
      statusCode: error?.status ?? OK,
      error: error?.message ?? "",
      code: error?.code ?? "",
      finishReason: "",
      usage,
    });
    const writer = this.#writer;
    if (writer === null) {
      this.#response.reject(error);
      return;
    }
    this.context.recordOutcome(OK);
    // A reader that has stopped may never take the end, and the request no longer holds an account.
    await withTimeout(this.#end(writer, error), this.#idleMs);
  }

  async #end(writer: StreamWriter, error: GatewayError | null): Promise<void> {
    if (error === null) return writer.close();
    const { aborted } = this.abort.signal;
    if (!this.#isEventStream || aborted) return writer.break(error, aborted);
    await writer.end(dataItem(JSON.stringify({ error: errorObject(error) })));
  }

  /** Adds the usage to the request's facts, once. Null: the provider had not begun to answer. */
  #recordUsage(): Usage | null {
    if (this.#copy === null || this.#usage !== null) return this.#usage;
    const { facts } = this.context;
    const { tokens, isImplausible, isStated, audioSeconds, searchUnits } = this.#copy.readUsage();
    if (isImplausible) facts.usageRefused = true;
    const { operation } = this.call.endpoint;
    if (!isStated && (operation === "images" || operation === "audio")) facts.hasUncountedAnswer = true;
    const usage = {
      ...(tokens ?? { prompt: estimateTokens(this.call.promptText), completion: 0, reasoning: 0 }),
      ...ifDefined("audioSeconds", audioSeconds),
      ...ifDefined("searchUnits", searchUnits),
    };
    facts.promptTokens = usage.prompt;
    facts.completionTokens = usage.completion;
    addUsageDetails(facts, usage);
    this.#usage = usage;
    return usage;
  }
}
