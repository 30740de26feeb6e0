import { GatewayError } from "../errors/gateway-error.ts";
import type { ConfigSnapshot, ConfigurationStore } from "./snapshot.ts";

/** Where a request's configuration comes from. */
type Source = Pick<ConfigurationStore, "read" | "readCopy" | "atLeast">;

/** The configuration as one request sees it: read once, and once more if it turns out to be outdated. */
export class RequestConfig {
  readonly #source: Source;
  #snapshot: Promise<ConfigSnapshot> | undefined;
  #latest: ConfigSnapshot | null = null;
  #isCopy = false;
  /** The first version that was read: the one that admitted the caller. */
  #firstVersion = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  read(): Promise<ConfigSnapshot> {
    this.#snapshot ??= this.#readFirst(this.#source.read());
    return this.#snapshot;
  }

  /** The last configuration read; null before the first read. */
  get latest(): ConfigSnapshot | null {
    return this.#latest;
  }

  /** Allows a cached copy of any age until {@link refresh}. */
  allowStale(): void {
    if (this.#snapshot !== undefined) return;
    this.#isCopy = true;
    this.#snapshot = this.#readFirst(this.#source.readCopy());
  }

  /**
   * Ensures at least this version; without one, that the configuration is no older than `read` allows. Returns whether it is
   * newer than the first one, which admitted the caller.
   *
   * @throws GatewayError 503 if the version is not available.
   */
  async refresh(version?: number): Promise<boolean> {
    const current = await this.read();
    if (version === undefined && !this.#isCopy) return current.version > this.#firstVersion;
    const newest = await (version === undefined ? this.#source.read() : this.#source.atLeast(version));
    if (version !== undefined && newest.version < version) {
      throw new GatewayError(503, "the configuration cannot be read", { code: "internal_error" });
    }
    this.#isCopy = false;
    if (newest.version > current.version) {
      this.#latest = newest;
      this.#snapshot = Promise.resolve(newest);
    }
    return newest.version > this.#firstVersion;
  }

  async #readFirst(reading: Promise<ConfigSnapshot>): Promise<ConfigSnapshot> {
    const snapshot = await reading;
    this.#firstVersion = snapshot.version;
    this.#latest = snapshot;
    return snapshot;
  }
}
