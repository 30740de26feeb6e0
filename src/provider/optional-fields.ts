import { withoutCallersWords } from "./callers-words.ts";
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

/** The fields of a request that it may have or not. */
type OptionalName<Wire> = {
  readonly [Name in keyof Wire & string]-?: object extends Pick<Wire, Name> ? Name : never;
}[keyof Wire & string];

/** Fields that shape how words are chosen, or say who asks: an answer without them is no other answer. */
export function hints<Wire extends object>(
  names: readonly OptionalName<Wire>[],
): readonly OptionalField<Wire>[] {
  return names.map((name) => ({
    named: refused(name),
    present: (request) => request[name] !== undefined,
    without: (request) => {
      const rest = { ...request };
      delete rest[name];
      return rest;
    },
  }));
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

  readonly #learnt: () => void;

  /** @param learnt called when there is something new to be remembered */
  constructor(fields: readonly OptionalField<Wire>[], learnt: () => void = () => undefined) {
    this.#fields = fields;
    this.#learnt = learnt;
  }

  /**
   * Posts a request; again without an optional field that the backend refuses by name, one after the other, as long as it
   * does. What was refused is remembered for all callers once the backend has taken the rest, unless it went on naming the
   * field, or may only have repeated the caller's words: a refusal may mention a field for other reasons.
   */
  async send(
    full: Wire,
    post: (request: Wire) => Promise<Response>,
    read: (response: Response) => Promise<ReadRefusal>,
  ): Promise<Response> {
    const left = new Map<OptionalField<Wire>, string>();
    const learned = new Map<OptionalField<Wire>, string>();
    let request = strip(full, this.#refused);
    for (;;) {
      const response = await post(request);
      if (response.ok) {
        this.#learn(learned, full);
        return response;
      }
      const { error, text } = await read(response);
      const correctable = response.status === 400 || response.status === 422;
      const field = correctable ? this.#named(request, text, left) : undefined;
      if (field === undefined) throw error;
      for (const earlier of learned.keys()) if (earlier.named.test(text)) learned.delete(earlier);
      left.set(field, text);
      learned.set(field, text);
      request = strip(field.without(request, text), this.#refused);
    }
  }

  /** Whether a field is known to be refused. */
  refuses(field: OptionalField<Wire>): boolean {
    return this.#refused.has(field);
  }

  /** The first field that a refusal names and that was not left out for it before. */
  #named(
    request: Wire,
    refusal: string,
    left: ReadonlyMap<OptionalField<Wire>, string>,
  ): OptionalField<Wire> | undefined {
    return this.#fields.find(
      (field) => !left.has(field) && field.named.test(refusal) && field.present(request, refusal),
    );
  }

  #learn(learned: ReadonlyMap<OptionalField<Wire>, string>, full: Wire): void {
    const lasting = [...learned].filter(
      ([field, refusal]) => !field.passing && field.named.test(withoutCallersWords(refusal, full)),
    );
    for (const [field, refusal] of lasting) this.#refused.set(field, refusal);
    if (lasting.length > 0) this.#learnt();
  }
}

const REFUSED =
  "(?:un|not |n't )(?:be )?(?:support|permit|allow|enabled|recogni|known|expected|available)|extra[ _](?:inputs|forbidden)|no longer";

/**
 * Recognises a refusal of a field as such, in the words of the APIs that refuse some; one of a value that is out of range
 * is the caller's to correct. The name is a regular expression, which repeats `.` a bounded number of times only.
 */
export function refused(name: string): RegExp {
  return new RegExp(`(?:${REFUSED})[^.]{0,80}?\\b${name}\\b|\\b${name}\\b[^.]{0,80}?(?:${REFUSED})`, "i");
}

/**
 * Recognises a sentence that says `first` and later `second`, both regular expressions, in letters of either case. `first` does not stand
 * again between them: a text that repeats it would otherwise take the square of its length.
 *
 * @param end the characters that end a sentence
 */
export function sentence(first: string, second: string, end = "."): RegExp {
  return new RegExp(`(?:${first})(?:(?!${first})[^${end}])*(?:${second})`, "i");
}

/** Recognises what any of the expressions does, in letters of either case. */
export function either(...expressions: readonly RegExp[]): RegExp {
  return new RegExp(expressions.map(({ source }) => source).join("|"), "i");
}

function strip<Wire>(full: Wire, refused: ReadonlyMap<OptionalField<Wire>, string>): Wire {
  let request = full;
  for (const [field, refusal] of refused) {
    if (field.present(request, refusal)) request = field.without(request, refusal);
  }
  return request;
}
