import { toProviderId } from "../../../core/config/provider-id.ts";
import type { ResolvedModel } from "../../../core/conversation/model.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { NoSlotError } from "../../accounts/slot-refusal.ts";
import { getProvider } from "../../providers/provider-registry.ts";
import type { Generation } from "../generation.ts";
import type { GenerationJob } from "../generation-job.ts";
import { applyGuardrails } from "../guarded-job.ts";
import { prepareGeneration } from "../prepare-generation.ts";
import { rejectUnsupportedOptions, selectCapableModel } from "./model-selection.ts";
import { getRouteAffinity } from "./route-affinity.ts";

/** Why another model may succeed although the last one could not answer. */
interface ModelFailure {
  /** The model fails independently of the request. */
  readonly isFailing: boolean;
  /** The conversation exceeds the model's context. */
  readonly isTooLong: boolean;
  /** All its accounts are busy. */
  readonly allBusy: boolean;
}

const TRY_NEXT_MODEL: ModelFailure = { isFailing: false, isTooLong: false, allBusy: false };

/** Classifies a model's failure. Null: trying another model would not help. */
export function classifyFailure(error: unknown): ModelFailure | null {
  if (error instanceof NoSlotError) return { ...TRY_NEXT_MODEL, allBusy: error.isBusy };
  if (!(error instanceof GatewayError)) return null;
  const { cause, code, status, details } = error;
  // Another provider may have something left.
  if (isObject(details?.["subject"]) && details["subject"]["kind"] === "provider") return TRY_NEXT_MODEL;
  if (cause instanceof ProviderError) {
    switch (cause.kind) {
      case "invalid_request":
      case "not_found":
        return null;
      case "context_length":
      case "too_large":
        return { ...TRY_NEXT_MODEL, isTooLong: true };
      case "content_filter":
        return TRY_NEXT_MODEL;
      default:
        return { ...TRY_NEXT_MODEL, isFailing: true };
    }
  }
  if (code === "upstream_empty_output" || code === "target_account_not_found") return TRY_NEXT_MODEL;
  return status === 503 ? { ...TRY_NEXT_MODEL, isFailing: true } : null;
}

/**
 * Tries the models of a route in order until one answers. It tries another model only while the caller has no visible
 * output of an answer. While other models remain, it does not wait for a free account; if all models fail and some were
 * busy, it waits for the first busy one. With a single model it behaves like a plain generation.
 */
export class RouteRunner {
  #generation: Generation;
  #remainingModels: readonly ResolvedModel[];
  readonly #hasFallbacks: boolean;
  /** The job of the first model whose accounts were all busy. */
  #firstBusyJob: GenerationJob | null = null;
  /** The largest context that was too small, in tokens. */
  #largestTooSmallContext = 0;

  private constructor(generation: Generation, rest: readonly ResolvedModel[], hasFallbacks: boolean) {
    this.#generation = generation;
    this.#remainingModels = rest;
    this.#hasFallbacks = hasFallbacks;
  }

  /**
   * Applies the guardrails, and prepares the first model that accepts the conversation.
   *
   * @throws GatewayError the error of a guardrail, or the error of {@link prepareGeneration}; with several models, that
   *   of the last one
   */
  static async prepare(requested: GenerationJob): Promise<RouteRunner> {
    const job = await applyGuardrails(requested);
    const { fallbackModels } = job;
    if (fallbackModels.length === 0) return new RouteRunner(await prepareGeneration(job), [], false);
    const prepared = await prepareFirstAccepted({ ...job, failFast: true }, [
      job.conversation.model,
      ...fallbackModels,
    ]);
    return new RouteRunner(prepared.generation, prepared.rest, true);
  }

  /** The current generation, or the one that has answered. */
  get generation(): Generation {
    return this.#generation;
  }

  /**
   * Runs the generation of one model after another.
   *
   * @param attempt runs one generation; called again only if the caller has no visible output of the previous one
   * @param hasVisibleOutput whether the caller has text, a refusal or a tool call of an answer; reasoning does not count
   * @throws the error of the last attempt
   */
  async run<T>(
    attempt: (generation: Generation) => Promise<T>,
    hasVisibleOutput: () => boolean = () => false,
  ): Promise<T> {
    if (!this.#hasFallbacks) return attempt(this.#generation);
    for (;;) {
      const { recording } = this.#generation.job;
      const failures = recording?.failureCount;
      try {
        const result = await attempt(this.#generation);
        this.#recordResult(null);
        return result;
      } catch (error) {
        const { job } = this.#generation;
        const failure = job.abort.signal.aborted ? null : classifyFailure(error);
        // The recording already has the failures of accounts.
        if (failure !== null && recording?.failureCount === failures) {
          recording?.recordFailure(error, job.conversation.model);
        }
        if (failure?.isFailing === true) this.#recordResult(error);
        if (failure === null || hasVisibleOutput() || !(await this.#prepareNextModel(failure, error)))
          throw error;
      }
    }
  }

  #recordResult(error: unknown): void {
    const { firstContentMs, job } = this.#generation;
    const { context, conversation, stickyRoute } = job;
    const { id } = conversation.model;
    const affinity = getRouteAffinity(context.platform);
    const now = context.platform.now();
    if (error !== null) affinity.recordFailure(id, now);
    else if (stickyRoute !== undefined) {
      affinity.recordAnswer(stickyRoute, id, now);
      if (firstContentMs !== null) stickyRoute.recordFirstToken?.(id, firstContentMs);
    }
  }

  /** Prepares the next model. False: none is left. */
  async #prepareNextModel(failure: ModelFailure, error: unknown): Promise<boolean> {
    const { job } = this.#generation;
    const { retries } = job;
    const { context: contextTokens } = job.conversation.model;
    if (failure.allBusy) this.#firstBusyJob ??= job;
    if (failure.isTooLong) {
      this.#largestTooSmallContext = Math.max(this.#largestTooSmallContext, contextTokens ?? 0);
      this.#remainingModels = this.#remainingModels.filter(
        ({ context }) => context === undefined || context > this.#largestTooSmallContext,
      );
    }
    if (this.#remainingModels.length > 0 && retries.take("model", error)) {
      const next = await prepareFirstAccepted(job, this.#remainingModels).catch(() => null);
      this.#remainingModels = next?.rest ?? [];
      if (next !== null) {
        this.#generation = next.generation;
        return true;
      }
    }
    if (this.#firstBusyJob === null || job.failFast !== true || !retries.take("busy_model", error))
      return false;
    const waiting = { ...this.#firstBusyJob, failFast: false };
    this.#firstBusyJob = null;
    this.#generation = await prepareGeneration(waiting);
    recordModel(waiting);
    return true;
  }
}

/** A generation that is ready to run, and the models after it. */
interface PreparedModel {
  readonly generation: Generation;
  readonly rest: readonly ResolvedModel[];
}

/**
 * Prepares the first of the other models whose context has room for a prompt that exceeds its model's context. Null: the
 * prompt fits, or no other model accepts it. Then the provider decides, because the tokens are an estimate.
 */
async function prepareLargerModel(
  job: GenerationJob,
  generation: Generation,
  others: readonly ResolvedModel[],
): Promise<PreparedModel | null> {
  const { context } = generation.job.conversation.model;
  if (context === undefined || others.length === 0) return null;
  const tokens = generation.estimatedPromptTokens();
  if (tokens <= context) return null;
  const larger = others.filter((other) => other.context === undefined || other.context >= tokens);
  return larger.length === 0 ? null : prepareFirstAccepted(job, larger).catch(() => null);
}

/**
 * Prepares the first model that accepts the conversation. Returns its generation and the models after it. Throws the last
 * model's error.
 */
async function prepareFirstAccepted(
  job: GenerationJob,
  models: readonly ResolvedModel[],
): Promise<PreparedModel> {
  let last: unknown;
  for (const [index, model] of models.entries()) {
    try {
      const { config } = await job.context.config();
      const { capabilities, native } = getProvider(job.context.platform, config, model.provider).api;
      const conversation = { ...job.conversation, model };
      if (job.native === undefined || native?.speaks(job.native.request.dialect) !== true)
        rejectUnsupportedOptions(conversation, capabilities);
      const next = {
        ...job,
        conversation: selectCapableModel(conversation, capabilities, job.hasImageFiles),
      };
      const generation = await prepareGeneration(next);
      const rest = models.slice(index + 1);
      const larger = await prepareLargerModel(job, generation, rest);
      if (larger !== null) return larger;
      recordModel(next);
      return { generation, rest };
    } catch (error) {
      job.abort.signal.throwIfAborted();
      job.recording?.recordFailure(error, model);
      last = error;
    }
  }
  throw last;
}

/** Writes the current model to the log and the recording. */
function recordModel({ context, conversation, recording }: GenerationJob): void {
  context.facts.model = conversation.model.id;
  context.facts.provider = toProviderId(conversation.model.provider);
  recording?.setConversation(conversation);
}
