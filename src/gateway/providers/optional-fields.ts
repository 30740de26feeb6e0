import type { UpstreamErrorResponse } from "./error-response.ts";
import { redactEchoedInput } from "./redact-echoed-input.ts";

/** A field that not every backend supports, and how to remove it from a request. */
export interface OptionalField<Wire> {
  /** Matches a refusal that names the field. */
  readonly refusalPattern: RegExp;
  readonly isPresent: (request: Wire, refusal: string) => boolean;
  readonly remove: (request: Wire, refusal: string) => Wire;
  /** The refusal applies to this request only and is not remembered. */
  readonly isTransient?: true;
}

/** The names of the optional members of a request. */
type OptionalName<Wire> = {
  readonly [Name in keyof Wire & string]-?: object extends Pick<Wire, Name> ? Name : never;
}[keyof Wire & string];

/** Creates optional fields that influence sampling or identify the caller's user: without them the answer is still valid. */
export function hintFields<Wire extends object>(
  names: readonly OptionalName<Wire>[],
): readonly OptionalField<Wire>[] {
  return names.map((name) => ({
    refusalPattern: fieldRefusalPattern(name),
    isPresent: (request) => request[name] !== undefined,
    remove: (request) => {
      const rest = { ...request };
      delete rest[name];
      return rest;
    },
  }));
}

/**
 * Remembers which optional fields a backend refuses.
 * Self-hosted engines ignore unknown fields. Hosted backends answer 400 and name the field. So the gateway sends
 * every field that helps some backend, and omits a field after a backend has refused it by name.
 */
export class RefusedFieldMemory<Wire> {
  readonly #fields: readonly OptionalField<Wire>[];
  /** The fields known to be refused, with the text of the refusal. */
  readonly #refused = new Map<OptionalField<Wire>, string>();

  readonly #onLearned: () => void;
  readonly #toBody: (request: Wire) => unknown;

  /**
   * @param onLearned called when a new refused field must be remembered
   * @param toBody returns the posted body as a value; default: the request itself
   */
  constructor(
    fields: readonly OptionalField<Wire>[],
    onLearned: () => void = () => undefined,
    toBody: (request: Wire) => unknown = (request) => request,
  ) {
    this.#fields = fields;
    this.#onLearned = onLearned;
    this.#toBody = toBody;
  }

  /**
   * Posts a request. While the backend refuses an optional field by name, removes that field and posts again.
   * After a success, remembers the refused fields for all callers, with two exceptions: the backend still named the
   * field after its removal, or the refusal may only echo the caller's input. A refusal may mention a field for other
   * reasons.
   */
  async send(
    fullRequest: Wire,
    send: (request: Wire) => Promise<Response>,
    read: (response: Response) => Promise<UpstreamErrorResponse>,
  ): Promise<Response> {
    const removed = new Map<OptionalField<Wire>, string>();
    const learned = new Map<OptionalField<Wire>, string>();
    let request = removeFields(fullRequest, this.#refused);
    for (;;) {
      const response = await send(request);
      if (response.ok) {
        this.#learn(learned, fullRequest);
        return response;
      }
      const { error, text } = await read(response);
      const correctable = response.status === 400 || response.status === 422;
      const field = correctable ? this.#named(request, text, removed) : undefined;
      if (field === undefined) throw error;
      for (const earlier of learned.keys()) if (earlier.refusalPattern.test(text)) learned.delete(earlier);
      removed.set(field, text);
      learned.set(field, text);
      request = removeFields(field.remove(request, text), this.#refused);
    }
  }

  /** Whether a field is known to be refused. */
  refuses(field: OptionalField<Wire>): boolean {
    return this.#refused.has(field);
  }

  /** Finds the first field that the refusal names and that has not been removed for this request. */
  #named(
    request: Wire,
    refusal: string,
    removed: ReadonlyMap<OptionalField<Wire>, string>,
  ): OptionalField<Wire> | undefined {
    return this.#fields.find(
      (field) =>
        !removed.has(field) && field.refusalPattern.test(refusal) && field.isPresent(request, refusal),
    );
  }

  #learn(learned: ReadonlyMap<OptionalField<Wire>, string>, fullRequest: Wire): void {
    if (learned.size === 0) return;
    const body = this.#toBody(fullRequest);
    const permanent = [...learned].filter(
      ([field, refusal]) => !field.isTransient && field.refusalPattern.test(redactEchoedInput(refusal, body)),
    );
    for (const [field, refusal] of permanent) this.#refused.set(field, refusal);
    if (permanent.length > 0) this.#onLearned();
  }
}

const REFUSED =
  "(?:un|not |n't )(?:be )?(?:support|permit|allow|enabled|recogni|known|expected|available)|extra[ _](?:inputs|forbidden)|no longer";

/**
 * Creates a pattern for the refusal of a field itself, in the words of the APIs that refuse fields. It does not match
 * a value out of range, which the caller must correct. `name` is a regular expression, whose `.` is repeated a
 * bounded number of times only.
 */
export function fieldRefusalPattern(name: string): RegExp {
  return new RegExp(`(?:${REFUSED})[^.]{0,80}?\\b${name}\\b|\\b${name}\\b[^.]{0,80}?(?:${REFUSED})`, "i");
}

/**
 * Creates a case-insensitive pattern for a sentence with `first` and later `second`, both regular expressions.
 * `first` may not occur again between them: a text that repeats it would otherwise take quadratic time.
 *
 * @param end the characters that end a sentence
 */
export function sentencePattern(first: string, second: string, end = "."): RegExp {
  return new RegExp(`(?:${first})(?:(?!${first})[^${end}])*(?:${second})`, "i");
}

/** Creates a case-insensitive pattern that matches what any of the expressions matches. */
export function anyPattern(...expressions: readonly RegExp[]): RegExp {
  return new RegExp(expressions.map(({ source }) => source).join("|"), "i");
}

function removeFields<Wire>(fullRequest: Wire, refused: ReadonlyMap<OptionalField<Wire>, string>): Wire {
  let request = fullRequest;
  for (const [field, refusal] of refused) {
    if (field.isPresent(request, refusal)) request = field.remove(request, refusal);
  }
  return request;
}
