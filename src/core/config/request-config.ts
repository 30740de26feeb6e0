import { GatewayError } from "../errors/gateway-error.ts";
import type { ConfigSnapshot, ConfigurationStore } from "./snapshot.ts";

/** Where a request's configuration comes from. */
type Source = Pick<ConfigurationStore, "read" | "lookUp" | "atLeast">;

/** The configuration as one request sees it: read once, and again only if it lacks what the request names. */
export class RequestConfig {
  readonly #source: Source;
  readonly #waitUntil: (refresh: Promise<unknown>) => void;
  #snapshot: Promise<ConfigSnapshot> | undefined;
  #latest: ConfigSnapshot | null = null;

  /** @param waitUntil see {@link ConfigurationStore.read} */
  constructor(source: Source, waitUntil: (refresh: Promise<unknown>) => void) {
    this.#source = source;
    this.#waitUntil = waitUntil;
  }

  read(): Promise<ConfigSnapshot> {
    this.#snapshot ??= this.#adopt(this.#source.read(this.#waitUntil));
    return this.#snapshot;
  }

  /** The last configuration read; null before the first read. */
  get latest(): ConfigSnapshot | null {
    return this.#latest;
  }

  /** Looks up a key or model that the configuration does not have. Returns whether there was a newer configuration. */
  async lookUp(name: string): Promise<boolean> {
    const { version } = await this.read();
    return (await this.#adoptNewer(this.#source.lookUp(name))).version > version;
  }

  /**
   * Ensures at least this version, which a grant stated.
   *
   * @throws GatewayError 503 if the version is not available.
   */
  async ensureVersion(version: number): Promise<void> {
    await this.read();
    const newest = await this.#adoptNewer(this.#source.atLeast(version));
    if (newest.version < version) {
      throw new GatewayError(503, "the configuration cannot be read just now: try again", {
        code: "internal_error",
      });
    }
  }

  async #adoptNewer(reading: Promise<ConfigSnapshot>): Promise<ConfigSnapshot> {
    const [current, newest] = [await this.read(), await reading];
    if (newest.version <= current.version) return current;
    this.#snapshot = this.#adopt(Promise.resolve(newest));
    return this.#snapshot;
  }

  async #adopt(reading: Promise<ConfigSnapshot>): Promise<ConfigSnapshot> {
    this.#latest = await reading;
    return this.#latest;
  }
}
