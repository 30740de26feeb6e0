import { NoSlot } from "../accounts/refusal.ts";
import { DEFAULT_PROVIDER } from "../config/schema.ts";
import type { ResolvedModel } from "../conversation/model.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { providerNamed } from "../provider/of-platform.ts";
import { Generation } from "./generation.ts";
import type { GenerationJob } from "./job.ts";
import { routesOf } from "./route-memory.ts";
import { refuseUnmet, suited } from "./suit.ts";

/** Why another model may succeed after one that could not answer. */
interface Failure {
  /** The model fails independently of the request. */
  readonly ails: boolean;
  /** The conversation exceeds the model's context. */
  readonly tooLong: boolean;
  /** All its accounts are busy. */
  readonly busy: boolean;
}

const MOVE: Failure = { ails: false, tooLong: false, busy: false };

/** Classifies a model's failure. Null: trying another model would not help. */
export function judge(error: unknown): Failure | null {
  if (error instanceof NoSlot) return { ...MOVE, busy: error.busy };
  if (!(error instanceof GatewayError)) return null;
  const { cause, code, status } = error;
  if (cause instanceof ProviderError) {
    switch (cause.kind) {
      case "invalid_request":
      case "not_found":
        return null;
      case "context_length":
      case "too_large":
        return { ...MOVE, tooLong: true };
      case "content_filter":
        return MOVE;
      default:
        return { ...MOVE, ails: true };
    }
  }
  if (code === "upstream_empty_output" || code === "target_account_not_found") return MOVE;
  return status === 503 ? { ...MOVE, ails: true } : null;
}

/**
 * Tries the models of a route in order until one answers. It tries another model only while the caller has seen nothing of
 * an answer. While other models remain, it does not wait for a free account; if all models fail and some were busy, it
 * waits for the first busy one. With a single model it behaves like a plain generation.
 */
export class Route {
  #generation: Generation;
  #rest: readonly ResolvedModel[];
  readonly #many: boolean;
  /** The job of the first model whose accounts were all busy. */
  #busy: GenerationJob | null = null;
  /** The largest context that was too small, in tokens. */
  #tooSmall = 0;

  private constructor(generation: Generation, rest: readonly ResolvedModel[], many: boolean) {
    this.#generation = generation;
    this.#rest = rest;
    this.#many = many;
  }

  /**
   * Prepares the first model that accepts the conversation.
   *
   * @throws GatewayError the error of {@link Generation.prepare}; with several models, that of the last one
   */
  static async prepare(job: GenerationJob): Promise<Route> {
    const { alternatives } = job;
    if (alternatives.length === 0) return new Route(await Generation.prepare(job), [], false);
    const begun = await nextOf({ ...job, hurries: true }, [job.conversation.model, ...alternatives]);
    return new Route(begun.generation, begun.rest, true);
  }

  /** The current generation, or the one that has answered. */
  get generation(): Generation {
    return this.#generation;
  }

  /**
   * Runs the generation of one model after another.
   *
   * @param attempt runs one generation; called again only if the caller saw nothing of the previous one
   * @param seen whether the caller has seen anything of an answer
   * @throws the error of the last attempt
   */
  async run<T>(
    attempt: (generation: Generation) => Promise<T>,
    seen: () => boolean = () => false,
  ): Promise<T> {
    if (!this.#many) return attempt(this.#generation);
    for (;;) {
      const { recording } = this.#generation.job;
      const failures = recording?.failures;
      try {
        const result = await attempt(this.#generation);
        this.#note(null);
        return result;
      } catch (error) {
        const { job } = this.#generation;
        const failure = job.abort.aborted ? null : judge(error);
        // The recording already has the failures of accounts.
        if (failure !== null && recording?.failures === failures) {
          recording?.passed(error, job.conversation.model);
        }
        if (failure?.ails === true) this.#note(error);
        if (failure === null || seen() || !(await this.#moves(failure))) throw error;
      }
    }
  }

  #note(error: unknown): void {
    const { context, conversation, stay } = this.#generation.job;
    const { id } = conversation.model;
    const memory = routesOf(context.platform);
    if (error !== null) memory.failed(id, context.platform.now());
    else if (stay !== undefined) memory.answered(stay, id);
  }

  /** Prepares the next model. False: none is left. */
  async #moves(failure: Failure): Promise<boolean> {
    const { job } = this.#generation;
    const { context: now } = job.conversation.model;
    if (failure.busy) this.#busy ??= job;
    if (failure.tooLong) {
      this.#tooSmall = Math.max(this.#tooSmall, now ?? 0);
      this.#rest = this.#rest.filter(({ context }) => context === undefined || context > this.#tooSmall);
    }
    if (this.#rest.length > 0) {
      const next = await nextOf(job, this.#rest).catch(() => null);
      this.#rest = next?.rest ?? [];
      if (next !== null) {
        this.#generation = next.generation;
        return true;
      }
    }
    if (this.#busy === null || job.hurries !== true) return false;
    const waiting = { ...this.#busy, hurries: false };
    this.#busy = null;
    this.#generation = await Generation.prepare(waiting);
    tell(waiting);
    return true;
  }
}

/**
 * Prepares the first model that accepts the conversation. Returns its generation and the models after it. Throws the last
 * model's error.
 */
async function nextOf(
  job: GenerationJob,
  models: readonly ResolvedModel[],
): Promise<{ readonly generation: Generation; readonly rest: readonly ResolvedModel[] }> {
  let last: unknown;
  for (const [index, model] of models.entries()) {
    try {
      const { config } = await job.context.config();
      const { abilities } = providerNamed(job.context.platform, config, model.provider).api;
      const asked = { ...job.conversation, model };
      refuseUnmet(asked, abilities);
      const next = { ...job, conversation: suited(asked, abilities, job.imageFiles) };
      const generation = await Generation.prepare(next);
      tell(next);
      return { generation, rest: models.slice(index + 1) };
    } catch (error) {
      job.abort.throwIfAborted();
      job.recording?.passed(error, model);
      last = error;
    }
  }
  throw last;
}

/** Writes the current model to the log and the recording. */
function tell({ context, conversation, recording }: GenerationJob): void {
  context.log.model = conversation.model.id;
  context.log.provider = conversation.model.provider ?? DEFAULT_PROVIDER;
  recording?.suit(conversation);
}
