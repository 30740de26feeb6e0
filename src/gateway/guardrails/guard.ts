import type { Guardrail } from "../../core/config/schemas/guardrail-schema.ts";
import type { Conversation } from "../../core/conversation/conversation.ts";
import type { Completion } from "../../core/conversation/events.ts";
import type { ModelNameConfig } from "../models/configured-models.ts";
import { findInventedName } from "../models/invented-name.ts";
import { checkCompletion } from "./check-completion.ts";
import { maskConversation } from "./check-conversation.ts";
import { GuardedStream, type StreamSurroundings } from "./guarded-stream.ts";
import { TextChecker } from "./text-checker.ts";
import type { WebhookAccess } from "./webhook.ts";

/** The most characters of a request that are checked. */
const MAX_REQUEST_CHARACTERS = 1_000_000;

/** The checks of one generation. */
export class Guard {
  readonly #before: readonly Guardrail[];
  readonly #after: readonly Guardrail[];
  readonly #access: WebhookAccess;
  readonly #signal: AbortSignal;

  /** @param signal aborted when the caller has left */
  constructor(rules: readonly Guardrail[], access: WebhookAccess, signal: AbortSignal) {
    this.#before = rules.filter(({ stage }) => stage !== "after");
    this.#after = rules.filter(({ stage }) => stage !== "before");
    this.#access = access;
    this.#signal = signal;
  }

  /**
   * Returns the conversation as the provider may see it.
   *
   * @param names the configured names of models: others may be any text of the caller
   * @throws GatewayError 400 `content_filter` if a rule denies it, 503 if a rule cannot be checked and then denies
   */
  async checkConversation(conversation: Conversation, names: ModelNameConfig): Promise<Conversation> {
    if (this.#before.length === 0) return conversation;
    const checker = new TextChecker(this.#before, MAX_REQUEST_CHARACTERS);
    const masked = await maskConversation(conversation, checker, findInventedName(conversation.model, names));
    await checker.askWebhooks(this.#access, this.#signal);
    return masked;
  }

  /** Returns a whole answer as the caller may see it. */
  async checkCompletion(completion: Completion): Promise<Completion> {
    if (this.#after.length === 0) return completion;
    const checker = new TextChecker(this.#after);
    return checkCompletion(completion, checker, () => checker.askWebhooks(this.#access, this.#signal));
  }

  /** Checks the events of a streamed answer; null: no rule checks answers. */
  guardStream(surroundings: Pick<StreamSurroundings, "deliver" | "usage">): GuardedStream | null {
    if (this.#after.length === 0) return null;
    return new GuardedStream(this.#after, {
      access: this.#access,
      signal: this.#signal,
      deliver: (events) => surroundings.deliver(events),
      usage: () => surroundings.usage(),
    });
  }
}
