/** The maximum number of remembered calls. */
const MAX_CALLS = 2_000;
/** The maximum length of all remembered thoughts together, in characters. */
const MAX_CHARS = 4 * 1024 * 1024;
/** The cost of an entry without its thoughts, in characters. */
const ENTRY_CHARS = 200;

/** The maximum length of an id, in characters. Servers do not create longer ids. */
const MAX_ID = 200;

/** A UUID at the end of an id. */
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** A run of at least this many letters and digits, with both among them, cannot be guessed. */
const MIN_RANDOM = 16;

/** Whether an id cannot be guessed, so that it may serve as the key to a caller's thoughts. */
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
 * Remembers what the model thought before a tool call, keyed by model and call id.
 * Several protocols require signed thoughts to be sent back together with the results of the calls that they led to.
 * Most API styles have no field for the signature, but every style sends back the call ids.
 *
 * The memory is local to one isolate and evicts the least recently used entry. A missing entry is no error. Thoughts
 * of one caller must not reach the conversation of another, so only ids that cannot be guessed are keys.
 */
export class ReasoningCache<Thought> {
  readonly #entries = new Map<string, Entry<Thought>>();
  readonly #countCharacters: (thought: Thought) => number;
  #chars = 0;

  /** @param countCharacters returns the approximate length of a thought in characters. */
  constructor(countCharacters: (thought: Thought) => number) {
    this.#countCharacters = countCharacters;
  }

  /** Stores the thoughts between the previous call of a message (or its start) and this call. The list may be empty. */
  store(model: string, callId: string, thoughts: readonly Thought[]): void {
    if (!isUnguessable(callId)) return;
    const key = toCacheKey(model, callId);
    const chars = ENTRY_CHARS + thoughts.reduce((sum, thought) => sum + this.#countCharacters(thought), 0);
    this.#drop(key);
    if (chars > MAX_CHARS / 4) return;
    this.#entries.set(key, { thoughts, chars });
    this.#chars += chars;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_CALLS && this.#chars <= MAX_CHARS) break;
      this.#drop(oldest);
    }
  }

  /** Returns the thoughts before a call, or undefined if unknown. Thoughts are valid only for the model that had them. */
  get(model: string, callId: string): readonly Thought[] | undefined {
    const key = toCacheKey(model, callId);
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

function toCacheKey(model: string, callId: string): string {
  return `${model}\n${callId}`;
}
