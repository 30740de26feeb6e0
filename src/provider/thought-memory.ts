/** How many calls are remembered. */
const MAX_CALLS = 2_000;
/** How many characters their thoughts may have in all. */
const MAX_CHARS = 4 * 1024 * 1024;
/** What an entry costs apart from its thoughts, in characters. */
const ENTRY_CHARS = 200;

/** No server makes longer ids, in characters. */
const MAX_ID = 200;

/** A UUID at the end. */
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** So many letters and digits in a row cannot be guessed, if both are among them. */
const MIN_RANDOM = 16;

/** Whether nobody can guess an id, so that it may be the key to what somebody's model thought. */
export function isUnguessable(id: string): boolean {
  if (id.length > MAX_ID) return false;
  const end = id.split(/[^a-z\d]/i).at(-1) ?? "";
  return UUID.test(id) || (end.length >= MIN_RANDOM && /\d/.test(end) && /[a-z]/i.test(end));
}

interface Entry<Thought> {
  readonly thoughts: readonly Thought[];
  readonly chars: number;
}

/**
 * What the model thought before it made a call, by the call's id. Several protocols want thoughts back, signed as they were,
 * together with the results of the calls which they led to; most styles have no place where a caller could keep a
 * signature, but every style sends back the ids of calls.
 *
 * One isolate remembers, the least recently used goes first, and a call that is not known is no failure. Thoughts of one
 * caller must not come into the conversation of another, so that only an id that cannot be guessed is a key.
 */
export class ThoughtMemory<Thought> {
  readonly #entries = new Map<string, Entry<Thought>>();
  readonly #lengthOf: (thought: Thought) => number;
  #chars = 0;

  /** `lengthOf` tells how many characters a thought has, about. */
  constructor(lengthOf: (thought: Thought) => number) {
    this.#lengthOf = lengthOf;
  }

  /** Keeps what came between the previous call of a message, or its beginning, and this one; that may be nothing. */
  keep(model: string, callId: string, thoughts: readonly Thought[]): void {
    if (!isUnguessable(callId)) return;
    const key = keyOf(model, callId);
    const chars = ENTRY_CHARS + thoughts.reduce((sum, thought) => sum + this.#lengthOf(thought), 0);
    this.#drop(key);
    if (chars > MAX_CHARS / 4) return;
    this.#entries.set(key, { thoughts, chars });
    this.#chars += chars;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_CALLS && this.#chars <= MAX_CHARS) break;
      this.#drop(oldest);
    }
  }

  /** What the model thought before a call; undefined: not known. A thought is good for the model that had it. */
  of(model: string, callId: string): readonly Thought[] | undefined {
    const key = keyOf(model, callId);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.thoughts;
  }

  #drop(key: string): void {
    this.#chars -= this.#entries.get(key)?.chars ?? 0;
    this.#entries.delete(key);
  }
}

function keyOf(model: string, callId: string): string {
  return `${model}\n${callId}`;
}
