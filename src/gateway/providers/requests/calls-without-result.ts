/**
 * The tool calls that wait for their result, by the caller's id. If several calls share an id, the first result belongs
 * to the first call, and so on.
 *
 * @typeParam Call what identifies a call in the request that is sent. Each call must be added only once.
 */
export class CallsWithoutResult<Call> {
  /** In the order in which the calls were added. */
  readonly #waiting = new Set<Call>();
  readonly #byCallerId = new Map<string, { readonly calls: Call[]; next: number }>();

  add(callerId: string, call: Call): void {
    this.#waiting.add(call);
    const queue = this.#byCallerId.get(callerId);
    if (queue === undefined) this.#byCallerId.set(callerId, { calls: [call], next: 0 });
    else queue.calls.push(call);
  }

  /** Removes and returns the call that the next result with this id belongs to. Undefined: no call waits for it. */
  take(callerId: string): Call | undefined {
    const queue = this.#byCallerId.get(callerId);
    const call = queue?.calls[queue.next];
    if (queue === undefined || call === undefined) return undefined;
    // An index takes constant time, unlike the removal of the first element.
    queue.next += 1;
    this.#waiting.delete(call);
    return call;
  }

  /** Removes and returns all calls, in the order in which they were added. */
  takeAll(): readonly Call[] {
    const calls = [...this.#waiting];
    this.#waiting.clear();
    this.#byCallerId.clear();
    return calls;
  }
}
