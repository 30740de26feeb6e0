/** Reads the body of an answer as it comes, like a client that keeps up. */
export class BodyReader {
  /** What has come so far. */
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

  /** Goes away: the next write to the body fails. */
  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}
