/** A message in transit. */
interface Message {
  /** Delivers the message; its receiver may send further messages. */
  readonly arrive: () => void;
}

/** A network whose messages arrive when a step of the run says so: in any order, once, twice or never. */
export class Network {
  readonly #messages: Message[] = [];

  get underWay(): number {
    return this.#messages.length;
  }

  send(arrive: () => void): void {
    this.#messages.push({ arrive });
  }

  /** Runs `work` at the remote side and returns its result. */
  call<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.send(() => {
        const answer = work();
        this.send(() => resolve(answer));
      });
    });
  }

  /** Delivers one message. `again`: it will be delivered once more. */
  deliver(which: number, again: boolean): void {
    const at = which % Math.max(1, this.#messages.length);
    const message = again ? this.#messages[at] : this.#messages.splice(at, 1)[0];
    message?.arrive();
  }

  lose(which: number): void {
    this.#messages.splice(which % Math.max(1, this.#messages.length), 1);
  }
}
