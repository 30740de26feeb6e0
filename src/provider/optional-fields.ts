import type { ReadRefusal } from "./refusal.ts";

/** A field that goes beyond what every backend knows, and the request without it. */
export interface OptionalField<Wire> {
  /** Recognises a refusal that names it. */
  readonly named: RegExp;
  readonly present: (request: Wire, refusal: string) => boolean;
  readonly without: (request: Wire, refusal: string) => Wire;
  /** The refusal says nothing of other requests. */
  readonly passing?: true;
}

/**
 * Remembers which optional fields a backend refuses. Backends differ in what they know: the engines that people run
 * themselves pass over a field that they do not know, hosted ones answer 400 and name it. So every field that helps some
 * backend is sent, and one that is refused by name is left out from then on.
 */
export class OptionalFields<Wire> {
  readonly #fields: readonly OptionalField<Wire>[];
  /** What is known to be refused, and in which words. */
  readonly #refused = new Map<OptionalField<Wire>, string>();

  constructor(fields: readonly OptionalField<Wire>[]) {
    this.#fields = fields;
  }

  /**
   * Posts a request; again without the optional fields that the backend refuses by name, as long as it does. What was
   * refused is remembered once the backend has taken the rest: a refusal may mention a field for other reasons.
   */
  async send(
    full: Wire,
    post: (request: Wire) => Promise<Response>,
    read: (response: Response) => Promise<ReadRefusal>,
  ): Promise<Response> {
    const learned = new Map<OptionalField<Wire>, string>();
    let request = strip(full, this.#refused);
    for (;;) {
      const response = await post(request);
      if (response.ok) {
        for (const [field, refusal] of learned) if (!field.passing) this.#refused.set(field, refusal);
        return response;
      }
      const { error, text } = await read(response);
      const correctable = response.status === 400 || response.status === 422;
      const named = correctable ? this.#named(request, text) : [];
      if (named.length === 0) throw error;
      const refused = new Map(named.map((field) => [field, text] as const));
      request = strip(request, refused);
      for (const [field, refusal] of refused) learned.set(field, refusal);
    }
  }

  /** Whether a field is known to be refused. */
  refuses(field: OptionalField<Wire>): boolean {
    return this.#refused.has(field);
  }

  #named(request: Wire, refusal: string): readonly OptionalField<Wire>[] {
    return this.#fields.filter((field) => field.named.test(refusal) && field.present(request, refusal));
  }
}

const REFUSED =
  "(?:un|not |n't )(?:be )?(?:support|permit|allow|recogni|known|expected|available)|extra[ _](?:inputs|forbidden)|no longer";

/**
 * Recognises a refusal of a field as such, in the words of the APIs that refuse some; one of a value that is out of range
 * is the caller's to correct. The name is a regular expression.
 */
export function refused(name: string): RegExp {
  return new RegExp(`(?:${REFUSED})[^.]{0,80}?\\b${name}\\b|\\b${name}\\b[^.]{0,80}?(?:${REFUSED})`, "i");
}

function strip<Wire>(full: Wire, refused: ReadonlyMap<OptionalField<Wire>, string>): Wire {
  let request = full;
  for (const [field, refusal] of refused) {
    if (field.present(request, refusal)) request = field.without(request, refusal);
  }
  return request;
}
