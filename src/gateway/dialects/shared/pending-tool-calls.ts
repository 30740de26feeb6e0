/** The tool call that a result belongs to. */
export interface ResolvedCall {
  readonly callId: string;
  readonly name?: string;
}

interface PendingCall {
  readonly id: string;
  readonly name: string;
  isPending: boolean;
}

/** A queue of tool calls, oldest first. Some of them may already have a result. */
class CallQueue {
  readonly #calls: PendingCall[] = [];
  #next = 0;

  push(call: PendingCall): void {
    this.#calls.push(call);
  }

  /** Removes and returns the oldest pending call. */
  takeOldest(): PendingCall | undefined {
    for (; this.#next < this.#calls.length; this.#next += 1) {
      const call = this.#calls[this.#next];
      if (call?.isPending !== true) continue;
      call.isPending = false;
      return call;
    }
    return undefined;
  }
}

function getOrCreateQueue(lines: Map<string, CallQueue>, key: string): CallQueue {
  const known = lines.get(key);
  if (known !== undefined) return known;
  const line = new CallQueue();
  lines.set(key, line);
  return line;
}

/**
 * The tool calls of a conversation that have no result yet. Calls and results may have no ids: a result without an id
 * belongs to the oldest pending call, or to the oldest one of its tool name if it has a name (docs/clients.md,
 * assertion 40).
 */
export class PendingToolCalls {
  /**
   * Each queue is ordered oldest first. Queues skip calls that have a result, so any number of calls takes linear time.
   */
  readonly #all = new CallQueue();
  readonly #byId = new Map<string, CallQueue>();
  readonly #byName = new Map<string, CallQueue>();
  #count = 0;

  /** Registers a call. Returns its id, or a new id if it has none. */
  register(id: string | null | undefined, name: string): string {
    this.#count += 1;
    const callId = id || `call_${this.#count}_${name}`;
    const call = { id: callId, name, isPending: true };
    this.#all.push(call);
    getOrCreateQueue(this.#byId, callId).push(call);
    getOrCreateQueue(this.#byName, name).push(call);
    return callId;
  }

  /** Assigns a result to its call. */
  resolve(id: string | null | undefined, name: string | null | undefined): ResolvedCall {
    const call = (id ? this.#byId.get(id) : name ? this.#byName.get(name) : this.#all)?.takeOldest();
    const known = name ?? call?.name;
    const callId = id || call?.id || `call_${known ?? ""}`;
    return known === undefined ? { callId } : { callId, name: known };
  }
}
