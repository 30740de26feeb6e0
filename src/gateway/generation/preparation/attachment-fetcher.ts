import { ByteCollector } from "../../../core/encoding/byte-collector.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { MemoryReservation } from "../../../core/http/memory-budget.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { checkPageUrl } from "../../../core/url-safety/index.ts";

/**
 * Total size limit of the attachments fetched for one conversation, bytes. They stay in memory until they have been sent
 * on.
 */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_REDIRECTS = 5;
/** Time for all attachments of a conversation, from the first one. */
const TIMEOUT_MS = 30_000;
/** Different addresses of one conversation: vendors accept no more images in a request. */
const MAX_ADDRESSES = 500;

/** A fetched attachment with the media type that its server states. */
interface FetchedAttachment {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/**
 * Fetches attachments that a caller refers to by URL, for one conversation. Each URL and each redirect must pass the page
 * service's URL rules. Size and time are limited.
 */
export class AttachmentFetcher {
  readonly #platform: Pick<Platform, "fetch" | "variables">;
  readonly #field: string;
  readonly #reservation: MemoryReservation;
  /** Results by URL: each URL is fetched once. */
  readonly #resultsByUrl = new Map<string, Promise<FetchedAttachment>>();
  #remainingBytes = MAX_BYTES;
  #timeout: AbortSignal | null = null;

  /**
   * `field` is the request field that holds the messages, for errors. `reservation` counts the fetched bytes.
   */
  constructor(
    platform: Pick<Platform, "fetch" | "variables">,
    field: string,
    reservation: MemoryReservation,
  ) {
    this.#platform = platform;
    this.#field = field;
    this.#reservation = reservation;
  }

  /** @throws GatewayError 400 with the reason why the attachment cannot be loaded; 413 and 503 for lack of memory */
  async fetch(url: string, signal: AbortSignal): Promise<FetchedAttachment> {
    const known = this.#resultsByUrl.get(url);
    if (known === undefined && this.#resultsByUrl.size >= MAX_ADDRESSES)
      throw this.#createError(url, `a request may have attachments behind ${MAX_ADDRESSES} URLs`);
    const fetching = known ?? this.#fetch(url, signal);
    this.#resultsByUrl.set(url, fetching);
    return fetching;
  }

  async #fetch(url: string, signal: AbortSignal): Promise<FetchedAttachment> {
    this.#timeout ??= AbortSignal.timeout(TIMEOUT_MS);
    const deadline = AbortSignal.any([signal, this.#timeout]);
    try {
      return await this.#follow(url, deadline);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof GatewayError) throw error;
      throw this.#createError(
        url,
        deadline.aborted ? "its server takes too long" : "its server cannot be reached",
      );
    }
  }

  async #follow(url: string, signal: AbortSignal): Promise<FetchedAttachment> {
    let next = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const check = checkPageUrl(next, { privateHosts: this.#platform.variables.pages.privateHosts });
      if (!check.ok) throw this.#createError(url, check.message);
      const response = await this.#platform.fetch(check.url.href, { redirect: "manual", signal });
      const location = response.headers.get("location");
      if (response.status >= 300 && response.status < 400 && location !== null) {
        await response.body?.cancel();
        if (!URL.canParse(location, check.url.href)) throw this.#createError(url, "it redirects to no URL");
        next = new URL(location, check.url).href;
        continue;
      }
      if (!response.ok) {
        await response.body?.cancel();
        throw this.#createError(url, `its server answered ${response.status}`);
      }
      const mediaType = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
      return {
        bytes: await this.#read(response, url, signal),
        mediaType: mediaType || "application/octet-stream",
      };
    }
    throw this.#createError(url, "it redirects too often");
  }

  async #read(response: Response, url: string, signal: AbortSignal): Promise<Uint8Array> {
    if (response.body === null) return new Uint8Array();
    const reader = response.body.getReader();
    // Not every body reacts to its request's signal.
    const stop = () => void reader.cancel(signal.reason).catch(() => undefined);
    signal.addEventListener("abort", stop, { once: true });
    const bytes = new ByteCollector();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        if (done) break;
        this.#remainingBytes -= value.byteLength;
        if (this.#remainingBytes < 0) {
          throw this.#createError(url, `attachments behind URLs may have ${MAX_BYTES} bytes in all`);
        }
        if (!this.#reservation.tryReserve(value.byteLength))
          await this.#reservation.reserveWhenFree(value.byteLength);
        bytes.push(value);
      }
    } catch (error) {
      stop();
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
    return bytes.join();
  }

  #createError(url: string, reason: string): GatewayError {
    const shownUrl = JSON.stringify(url.slice(0, 200));
    return invalidRequest(
      `${this.#field}: the attachment ${shownUrl} cannot be loaded: ${reason}`,
      this.#field,
    );
  }
}
