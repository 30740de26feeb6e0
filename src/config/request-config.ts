import { GatewayError } from "../errors/gateway-error.ts";
import type { ConfigSnapshot, ConfigurationStore } from "./snapshot.ts";

/** Where a request's configuration comes from. */
type Source = Pick<ConfigurationStore, "read" | "readCopy" | "atLeast">;

/** The configuration as one request sees it: read once, and once more if it turns out to be old. */
export class RequestConfig {
  readonly #source: Source;
  #snapshot: Promise<ConfigSnapshot> | undefined;
  #latest: ConfigSnapshot | null = null;
  #isCopy = false;
  /** The version that was read first: the caller was let in by that. */
  #first = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  read(): Promise<ConfigSnapshot> {
    this.#snapshot ??= this.#begin(this.#source.read());
    return this.#snapshot;
  }

  /** The configuration as it was read last; null until it was read. */
  get latest(): ConfigSnapshot | null {
    return this.#latest;
  }

  /** Until it is confirmed a copy will do, however old. */
  allowCopy(): void {
    if (this.#snapshot !== undefined) return;
    this.#isCopy = true;
    this.#snapshot = this.#begin(this.#source.readCopy());
  }

  /**
   * Makes sure that it is of that version at least; without one, that it is no older than `read` allows. Returns whether it is
   * another one than that which was read first, by which the caller was let in.
   *
   * @throws GatewayError 503 when the version cannot be had.
   */
  async confirm(version?: number): Promise<boolean> {
    const before = await this.read();
    if (version === undefined && !this.#isCopy) return before.version > this.#first;
    const now = await (version === undefined ? this.#source.read() : this.#source.atLeast(version));
    if (version !== undefined && now.version < version) {
      throw new GatewayError(503, "the configuration cannot be read", { code: "internal_error" });
    }
    this.#isCopy = false;
    if (now.version > before.version) {
      this.#latest = now;
      this.#snapshot = Promise.resolve(now);
    }
    return now.version > this.#first;
  }

  async #begin(reading: Promise<ConfigSnapshot>): Promise<ConfigSnapshot> {
    const snapshot = await reading;
    this.#first = snapshot.version;
    this.#latest = snapshot;
    return snapshot;
  }
}
