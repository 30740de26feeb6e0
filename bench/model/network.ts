/** A message that is under way. */
interface Message {
  /** Brings it to where it goes, which may send others. */
  readonly arrive: () => void;
}

/** Messages come when a step of the run says so, in any order, once, twice or never. */
export class Network {
  readonly #messages: Message[] = [];

  get underWay(): number {
    return this.#messages.length;
  }

  send(arrive: () => void): void {
    this.#messages.push({ arrive });
  }

  /** Does something far away, and brings the answer back. */
  call<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.send(() => {
        const answer = work();
        this.send(() => resolve(answer));
      });
    });
  }

  /** One of them arrives. `again`: it will arrive once more. */
  deliver(which: number, again: boolean): void {
    const at = which % Math.max(1, this.#messages.length);
    const message = again ? this.#messages[at] : this.#messages.splice(at, 1)[0];
    message?.arrive();
  }

  lose(which: number): void {
    this.#messages.splice(which % Math.max(1, this.#messages.length), 1);
  }
}
