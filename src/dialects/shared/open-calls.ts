/** What is known of the call that a result belongs to. */
export interface AnsweredCall {
  readonly callId: string;
  readonly name?: string;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  open: boolean;
}

/** Calls in their order, of which some may have been answered already. */
class Line {
  readonly #calls: OpenCall[] = [];
  #next = 0;

  push(call: OpenCall): void {
    this.#calls.push(call);
  }

  /** The oldest that is open, which then is not any more. */
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
 * The calls of a conversation whose results are still to come. Calls may be without ids: a result without one belongs to
 * the oldest open call, of its name if it has one (client assertion 40).
 */
export class OpenCalls {
  /** By id and by name, oldest first; what was answered is passed over, so that any number of calls costs linear time. */
  readonly #all = new Line();
  readonly #byId = new Map<string, Line>();
  readonly #byName = new Map<string, Line>();
  #count = 0;

  /** A call was made. Returns its id: its own if it has one. */
  call(id: string | null | undefined, name: string): string {
    this.#count += 1;
    const given = id || `call_${this.#count}_${name}`;
    const call = { id: given, name, open: true };
    this.#all.push(call);
    lineOf(this.#byId, given).push(call);
    lineOf(this.#byName, name).push(call);
    return given;
  }

  /** A result came. */
  answer(id: string | null | undefined, name: string | null | undefined): AnsweredCall {
    const call = (id ? this.#byId.get(id) : name ? this.#byName.get(name) : this.#all)?.take();
    const known = name ?? call?.name;
    const callId = id || call?.id || `call_${known ?? ""}`;
    return known === undefined ? { callId } : { callId, name: known };
  }
}
