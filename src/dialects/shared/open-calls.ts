/** The tool call that a result belongs to. */
export interface AnsweredCall {
  readonly callId: string;
  readonly name?: string;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  open: boolean;
}

/** A queue of tool calls, oldest first. Some of them may already have a result. */
class Line {
  readonly #calls: OpenCall[] = [];
  #next = 0;

  push(call: OpenCall): void {
    this.#calls.push(call);
  }

  /** Removes and returns the oldest pending call. */
  take(): OpenCall | undefined {
    for (; this.#next < this.#calls.length; this.#next += 1) {
      const call = this.#calls[this.#next];
      if (call?.open !== true) continue;
      call.open = false;
      return call;
    }
    return undefined;
  }
}

function lineOf(lines: Map<string, Line>, key: string): Line {
  const known = lines.get(key);
  if (known !== undefined) return known;
  const line = new Line();
  lines.set(key, line);
  return line;
}

/**
 * The tool calls of a conversation that have no result yet. Calls and results may have no ids: a result without an id
 * belongs to the oldest pending call, or to the oldest one of its tool name if it has a name (client assertion 40).
 */
export class OpenCalls {
  /**
   * Each queue is ordered oldest first. Queues skip calls that have a result, so any number of calls takes linear time.
   */
  readonly #all = new Line();
  readonly #byId = new Map<string, Line>();
  readonly #byName = new Map<string, Line>();
  #count = 0;

  /** Registers a call. Returns its id, or a new id if it has none. */
  call(id: string | null | undefined, name: string): string {
    this.#count += 1;
    const given = id || `call_${this.#count}_${name}`;
    const call = { id: given, name, open: true };
    this.#all.push(call);
    lineOf(this.#byId, given).push(call);
    lineOf(this.#byName, name).push(call);
    return given;
  }

  /** Assigns a result to its call. */
  answer(id: string | null | undefined, name: string | null | undefined): AnsweredCall {
    const call = (id ? this.#byId.get(id) : name ? this.#byName.get(name) : this.#all)?.take();
    const known = name ?? call?.name;
    const callId = id || call?.id || `call_${known ?? ""}`;
    return known === undefined ? { callId } : { callId, name: known };
  }
}
