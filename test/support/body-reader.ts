/** Reads a response body as it arrives, like a fast client. */
export class BodyReader {
  /** Text received so far. */
  text = "";
  state: "open" | "ended" | "broken" = "open";
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor({ body }: Response) {
    if (body === null) throw new Error("the answer has no body");
    this.#reader = body.getReader();
    this.#read().then(
      () => {
        this.state = "ended";
      },
      () => {
        this.state = "broken";
      },
    );
  }

  async #read(): Promise<void> {
    const utf8 = new TextDecoder();
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      this.text += utf8.decode(value, { stream: true });
    }
  }

  /** Cancels reading: the next write to the body fails. */
  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}
