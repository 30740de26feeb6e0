/** What is known of the call that a result belongs to. */
export interface AnsweredCall {
  readonly callId: string;
  readonly name?: string;
}

/**
 * The calls of a conversation whose results are still to come. Calls may be without ids: a result without one belongs to
 * the oldest open call, of its name if it has one (client assertion 40).
 */
export class OpenCalls {
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #count = 0;

  /** A call was made. Returns its id: its own if it has one. */
  call(id: string | null | undefined, name: string): string {
    this.#count += 1;
    const given = id || `call_${this.#count}_${name}`;
    this.#open.push({ id: given, name });
    return given;
  }

  /** A result came. */
  answer(id: string | null | undefined, name: string | null | undefined): AnsweredCall {
    const index = this.#open.findIndex((call) => (id ? call.id === id : !name || call.name === name));
    const call = index < 0 ? undefined : this.#open.splice(index, 1)[0];
    const known = name ?? call?.name;
    const callId = id || call?.id || `call_${known ?? ""}`;
    return known === undefined ? { callId } : { callId, name: known };
  }
}
