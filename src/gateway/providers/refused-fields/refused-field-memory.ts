import { RecentMap } from "../../../core/encoding/recent-map.ts";
import type { ProviderError } from "../../../core/errors/provider-error.ts";
import type { UpstreamErrorResponse } from "../errors/error-response.ts";
import { redactEchoedInput } from "../errors/redact-echoed-input.ts";
import type { FieldRule } from "./field-rules.ts";

/** How a request is sent, and what is known about its fields. */
export interface FieldSending<Request> {
  /** Loads the rules, which only a rejection needs. */
  readonly loadRules: () => Promise<readonly FieldRule<Request>[]>;
  readonly send: (request: Request) => Promise<Response>;
  readonly read: (response: Response) => Promise<UpstreamErrorResponse>;
  /** Whether the request may be repeated after a rejection. */
  readonly mayRepeat: (rejection: ProviderError) => boolean;
  /** Returns the posted body as a value. */
  readonly toBody: (request: Request) => unknown;
}

/** The answer to a request, and the names of the fields that the request was sent without, each once. */
export interface SentRequest {
  readonly response: Response;
  readonly dropped: readonly string[];
}

/**
 * Remembers which fields a model of a backend refuses.
 * Self-hosted engines ignore unknown fields. Hosted backends answer 400 and name the field. So the gateway sends
 * every field that helps some backend, and omits a field after a backend has refused it by name.
 */
export class RefusedFieldMemory<Request> {
  /** The rules of the fields known to be refused, with the text of the rejection. */
  readonly #refused = new Map<FieldRule<Request>, string>();
  readonly #onLearned: () => void;

  /** @param onLearned called when a new refused field must be remembered */
  constructor(onLearned: () => void = () => undefined) {
    this.#onLearned = onLearned;
  }

  /**
   * Posts a request. While the backend refuses a field by name, changes the request by the field's rule and posts again.
   * After a success, remembers the refused fields for all callers, with two exceptions: the backend still named the
   * field after its removal, or the rejection may only echo the caller's input. A rejection may mention a field for other
   * reasons.
   *
   * @throws ProviderError the last rejection, if no rule applies to it
   */
  async send(fullRequest: Request, sending: FieldSending<Request>): Promise<SentRequest> {
    const { loadRules, send, read, mayRepeat, toBody } = sending;
    const removed = new Map<FieldRule<Request>, string>();
    const learned = new Map<FieldRule<Request>, string>();
    const dropped = new Set<string>();
    const remove = (request: Request, rule: FieldRule<Request>, rejection: string) => {
      if (rule.isUnreported !== true) dropped.add(rule.name);
      return rule.remove(request, rejection);
    };
    const removeKnown = (request: Request) => {
      let rest = request;
      for (const [rule, rejection] of this.#refused) {
        if (rule.isPresent(rest, rejection)) rest = remove(rest, rule, rejection);
      }
      return rest;
    };
    let request = removeKnown(fullRequest);
    for (;;) {
      const response = await send(request);
      if (response.ok) {
        this.#learn(learned, toBody, fullRequest);
        return { response, dropped: [...dropped] };
      }
      const { error, text } = await read(response);
      const isCorrectable = response.status === 400 || response.status === 422;
      const rule = isCorrectable ? findRule(await loadRules(), request, text, removed) : undefined;
      if (rule === undefined || !mayRepeat(error)) throw error;
      for (const earlier of learned.keys()) {
        // Rules of the same name are steps: the backend names the field until the last one.
        if (earlier.name !== rule.name && earlier.rejectionPattern.test(text)) learned.delete(earlier);
      }
      removed.set(rule, text);
      learned.set(rule, text);
      request = removeKnown(remove(request, rule, text));
    }
  }

  /** Whether a field is known to be refused. `name` is that of its rule. */
  refuses(name: string): boolean {
    return [...this.#refused.keys()].some((rule) => rule.name === name);
  }

  #learn(
    learned: ReadonlyMap<FieldRule<Request>, string>,
    toBody: (request: Request) => unknown,
    fullRequest: Request,
  ): void {
    if (learned.size === 0) return;
    const body = toBody(fullRequest);
    const permanent = [...learned].filter(
      ([rule, rejection]) =>
        !rule.isTransient && rule.rejectionPattern.test(redactEchoedInput(rejection, body)),
    );
    for (const [rule, rejection] of permanent) this.#refused.set(rule, rejection);
    if (permanent.length > 0) this.#onLearned();
  }
}

/** Finds the first rule whose field the rejection names, and that has not changed this request yet. */
function findRule<Request>(
  rules: readonly FieldRule<Request>[],
  request: Request,
  rejection: string,
  removed: ReadonlyMap<FieldRule<Request>, string>,
): FieldRule<Request> | undefined {
  return rules.find(
    (rule) =>
      !removed.has(rule) && rule.rejectionPattern.test(rejection) && rule.isPresent(request, rejection),
  );
}

/** The maximum number of models whose refused fields are remembered. */
const MAX_REMEMBERED_MODELS = 200;

/** Remembers the refused fields of each model of a backend, because each model generation supports other fields. */
export class RefusedFields<Request> {
  readonly #memories = new RecentMap<RefusedFieldMemory<Request>>(MAX_REMEMBERED_MODELS);

  /** The fields that a model is known to refuse. `model` is the backend's name for it. */
  of(model: string): RefusedFieldMemory<Request> {
    const known = this.#memories.get(model, 0);
    if (known !== undefined) return known;
    // Callers can invent model names, so store an entry only once a field has been refused.
    const memory = new RefusedFieldMemory<Request>(() => {
      if (this.#memories.get(model, 0) === undefined) this.#memories.set(model, memory, 0);
    });
    return memory;
  }
}
