import { GatewayError } from "../errors/gateway-error.ts";

/** Share of the budget for all strangers together. Callers with a key of the deployment may use the rest as well. */
const STRANGERS_SHARE = 1 / 4;

/** How long a request waits for memory, and how often it checks, milliseconds. */
const WAIT_MS = 5_000;
const POLL_MS = 25;

/** Limit of requests that wait for memory at one moment, per kind of caller. */
const MAX_WAITING = 64;

/**
 * `known`: callers with a managed key, and administrators. `stranger`: all others; a pass-through token is checked only by
 * the provider.
 */
type CallerKind = "known" | "stranger";

/** The memory of one kind of caller. */
interface CallerMemory {
  readonly limit: number;
  /** Bytes in use, including evictable ones. */
  used: number;
  /** Bytes that the budget may reclaim, oldest first. */
  readonly evictable: Set<EvictableBytes>;
  /** Total bytes of `evictable`. */
  evictableBytes: number;
  waiting: number;
  /** Bytes held by requests that wait for more. */
  heldByWaiting: number;
}

/** Bytes that the budget reclaims when another caller needs them. */
interface EvictableBytes {
  readonly bytes: number;
  /** Releases the data that the bytes were reserved for. */
  readonly evict: () => void;
}

const createCallerMemory = (limit: number): CallerMemory => ({
  limit,
  used: 0,
  evictable: new Set(),
  evictableBytes: 0,
  waiting: 0,
  heldByWaiting: 0,
});

/**
 * The memory that callers may use in one process or isolate: request bodies, raw and parsed, WebSockets, and responses that
 * their connections store. When memory is short, the oldest stored responses are evicted first. Then a request waits for a
 * short time, and then the gateway refuses it. The program survives any input.
 */
export class MemoryBudget {
  readonly #memoryOf: Readonly<Record<CallerKind, CallerMemory>>;
  readonly #total: number;

  /** `bytes` is the size of the whole budget. */
  constructor(bytes: number) {
    this.#total = bytes;
    this.#memoryOf = {
      known: createCallerMemory(bytes),
      stranger: createCallerMemory(Math.floor(bytes * STRANGERS_SHARE)),
    };
  }

  /** Creates the reservation of one request, initially empty. */
  createReservation(): MemoryReservation {
    return new MemoryReservation(this);
  }

  /** Bytes in use. */
  get used(): number {
    const { known, stranger } = this.#memoryOf;
    return known.used + stranger.used;
  }

  /** Reserves bytes if they are available, evicting if necessary. */
  tryReserve(callerKind: CallerKind, bytes: number): boolean {
    if (!this.#fits(callerKind, bytes) && !this.#evict(callerKind, bytes)) return false;
    this.#memoryOf[callerKind].used += bytes;
    return true;
  }

  /**
   * Reserves bytes until the returned function releases them, or until another caller needs them: then `evict` runs. Returns
   * null if the bytes are not available.
   */
  reserveEvictable(callerKind: CallerKind, bytes: number, evict: () => void): (() => void) | null {
    if (!this.tryReserve(callerKind, bytes)) return null;
    const memory = this.#memoryOf[callerKind];
    const entry: EvictableBytes = { bytes, evict };
    memory.evictable.add(entry);
    memory.evictableBytes += bytes;
    return () => this.#releaseEvictable(memory, entry);
  }

  #fits(callerKind: CallerKind, bytes: number): boolean {
    const memory = this.#memoryOf[callerKind];
    return memory.used + bytes <= memory.limit && this.used + bytes <= this.#total;
  }

  /** Evicts the oldest entries until the bytes fit. Evicts nothing if they would not fit even then. */
  #evict(callerKind: CallerKind, bytes: number): boolean {
    const { known, stranger } = this.#memoryOf;
    // A stranger never evicts data of known callers.
    const victims = callerKind === "stranger" ? [stranger] : [stranger, known];
    const evictable = victims.reduce((sum, { evictableBytes }) => sum + evictableBytes, 0);
    const { used, limit } = this.#memoryOf[callerKind];
    if (this.used - evictable + bytes > this.#total) return false;
    if (callerKind === "stranger" && used - evictable + bytes > limit) return false;
    for (const memory of victims) {
      for (const entry of memory.evictable) {
        if (this.#fits(callerKind, bytes)) return true;
        this.#releaseEvictable(memory, entry);
        entry.evict();
      }
    }
    return this.#fits(callerKind, bytes);
  }

  #releaseEvictable(memory: CallerMemory, entry: EvictableBytes): void {
    if (!memory.evictable.delete(entry)) return;
    memory.evictableBytes -= entry.bytes;
    memory.used -= entry.bytes;
  }

  releaseBytes(callerKind: CallerKind, bytes: number): void {
    this.#memoryOf[callerKind].used -= bytes;
  }

  /** Reserves bytes at once for a request that already holds `held`. See {@link MemoryReservation.reserveNow}. */
  reserveNow(callerKind: CallerKind, held: number, bytes: number): void {
    if (this.tryReserve(callerKind, bytes)) return;
    throw held + bytes > this.#memoryOf[callerKind].limit ? exceedsBudget() : memoryExhausted();
  }

  /**
   * Reserves bytes for a request that already holds `held`, as soon as they are available. See
   * {@link MemoryReservation.reserveWhenFree}.
   */
  async reserveWhenFree(callerKind: CallerKind, held: number, bytes: number): Promise<void> {
    const memory = this.#memoryOf[callerKind];
    if (held + bytes > memory.limit) throw exceedsBudget();
    // If waiting requests hold all memory, none becomes free until one of them is refused.
    const usedBytes = callerKind === "stranger" ? memory.used : this.used;
    if (memory.waiting >= MAX_WAITING || held + memory.heldByWaiting >= usedBytes) throw memoryExhausted();
    memory.waiting += 1;
    memory.heldByWaiting += held;
    try {
      for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += POLL_MS) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        if (this.tryReserve(callerKind, bytes)) return;
      }
    } finally {
      memory.waiting -= 1;
      memory.heldByWaiting -= held;
    }
    throw memoryExhausted();
  }
}

/** The memory reservation of one request or WebSocket. */
export class MemoryReservation {
  readonly #budget: MemoryBudget;
  #callerKind: CallerKind = "stranger";
  #bytes = 0;
  /** The request has ended: bytes reserved from now on would never be released. */
  #hasEnded = false;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Marks the caller as known. Must precede any reservation. */
  markKnown(): void {
    this.#callerKind = "known";
  }

  get isKnown(): boolean {
    return this.#callerKind === "known";
  }

  /** Reserved bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves more bytes. Returns false if they are not available now. */
  tryReserve(bytes: number): boolean {
    if (this.#hasEnded || !this.#budget.tryReserve(this.#callerKind, bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** See {@link MemoryBudget.reserveEvictable}. These bytes are not released at the request's end. */
  reserveEvictable(bytes: number, evict: () => void): (() => void) | null {
    return this.#hasEnded ? null : this.#budget.reserveEvictable(this.#callerKind, bytes, evict);
  }

  /**
   * Waits for more bytes, after {@link tryReserve} has failed.
   *
   * @throws GatewayError 413 if the bytes can never be available, 503 after the time limit or if too many requests wait.
   */
  async reserveWhenFree(bytes: number): Promise<void> {
    if (this.#hasEnded) throw memoryExhausted();
    await this.#budget.reserveWhenFree(this.#callerKind, this.#bytes, bytes);
    this.#bytes += bytes;
    if (!this.#hasEnded) return;
    this.release();
    throw memoryExhausted();
  }

  /**
   * Reserves more bytes at once.
   *
   * @throws GatewayError 413 if the bytes can never be available, 503 if they are not available now.
   */
  reserveNow(bytes: number): void {
    if (this.#hasEnded) throw memoryExhausted();
    this.#budget.reserveNow(this.#callerKind, this.#bytes, bytes);
    this.#bytes += bytes;
  }

  /** Releases bytes, at most those that are reserved. */
  releaseBytes(bytes: number): void {
    const released = Math.min(bytes, this.#bytes);
    this.#budget.releaseBytes(this.#callerKind, released);
    this.#bytes -= released;
  }

  /** Releases all but this many bytes: a waiting request no longer needs the rest. */
  shrinkTo(bytes: number): void {
    if (bytes < this.#bytes) this.releaseBytes(this.#bytes - bytes);
  }

  /** Releases everything for good: background work of the request gets no more memory. */
  end(): void {
    this.#hasEnded = true;
    this.release();
  }

  /** Releases everything. */
  release(): void {
    this.releaseBytes(this.#bytes);
  }
}

function exceedsBudget(): GatewayError {
  return new GatewayError(
    413,
    "the request body takes more memory than this deployment has for it: send less, or fewer values in it",
    { code: "request_too_large" },
  );
}

/**
 * The 503 of a request without memory. It has no `Retry-After`, like all refusals for lack of capacity
 * (docs/contract/errors.md).
 */
export function memoryExhausted(): GatewayError {
  return new GatewayError(503, "the gateway has no memory left for this request just now: try again", {
    code: "overloaded",
  });
}
