import { GatewayError } from "../errors/gateway-error.ts";

/** Of the budget strangers have this part, all of them together; whoever has a key of the deployment may take the rest as well. */
const STRANGERS_PART = 1 / 4;

/** How long a request waits for memory, milliseconds, and how often it looks whether there is some. */
const WAIT_MS = 5_000;
const LOOK_MS = 25;

/** Requests of each kind that wait for memory at one moment. */
const MAX_WAITING = 64;

/** Those who showed a managed key or are administrators, and everybody else: a token of the provider's is only checked there. */
type Asker = "known" | "stranger";

/** What one kind of callers holds. */
interface Account {
  readonly limit: number;
  /** Bytes held, evictable ones included. */
  used: number;
  /** What the budget may take back, oldest first. */
  readonly evictable: Set<EvictableBytes>;
  /** Bytes of `evictable`. */
  evictableBytes: number;
  waiting: number;
  /** Bytes held by those who wait for more. */
  stuck: number;
}

/** Bytes that the budget takes back when another caller needs them. */
interface EvictableBytes {
  readonly bytes: number;
  /** Forgets what the bytes were held for. */
  readonly evict: () => void;
}

const emptyAccount = (limit: number): Account => ({
  limit,
  used: 0,
  evictable: new Set(),
  evictableBytes: 0,
  waiting: 0,
  stuck: 0,
});

/**
 * The memory that callers may take in one process or isolate: bodies of requests, parsed and raw, WebSockets, and responses
 * that their connections keep. Where memory is short the oldest kept responses go first. Then a request waits a little, and
 * the gateway refuses it: the program survives whatever callers send.
 */
export class BodyBudget {
  readonly #accounts: Readonly<Record<Asker, Account>>;
  readonly #total: number;

  /** `bytes` is the whole budget. */
  constructor(bytes: number) {
    this.#total = bytes;
    this.#accounts = {
      known: emptyAccount(bytes),
      stranger: emptyAccount(Math.floor(bytes * STRANGERS_PART)),
    };
  }

  /** What one request holds: nothing yet. */
  hold(): BodyHold {
    return new BodyHold(this);
  }

  /** Bytes that are held now. */
  get used(): number {
    const { known, stranger } = this.#accounts;
    return known.used + stranger.used;
  }

  /** Takes bytes, if there are so many, or if evicting makes room for so many. */
  take(asker: Asker, bytes: number): boolean {
    if (!this.#fits(asker, bytes) && !this.#evict(asker, bytes)) return false;
    this.#accounts[asker].used += bytes;
    return true;
  }

  /**
   * Takes bytes until the returned function gives them back, or until another caller needs them: then `evict` runs.
   * Returns null when there are not so many.
   */
  takeEvictable(asker: Asker, bytes: number, evict: () => void): (() => void) | null {
    if (!this.take(asker, bytes)) return null;
    const account = this.#accounts[asker];
    const taken: EvictableBytes = { bytes, evict };
    account.evictable.add(taken);
    account.evictableBytes += bytes;
    return () => this.#forget(account, taken);
  }

  #fits(asker: Asker, bytes: number): boolean {
    const account = this.#accounts[asker];
    return account.used + bytes <= account.limit && this.used + bytes <= this.#total;
  }

  /** Evicts the oldest until so many bytes fit. Evicts nothing when they would not fit even then. */
  #evict(asker: Asker, bytes: number): boolean {
    const { known, stranger } = this.#accounts;
    // A stranger's need evicts nothing of a managed key.
    const victims = asker === "stranger" ? [stranger] : [stranger, known];
    const evictable = victims.reduce((sum, { evictableBytes }) => sum + evictableBytes, 0);
    const { used, limit } = this.#accounts[asker];
    if (this.used - evictable + bytes > this.#total) return false;
    if (asker === "stranger" && used - evictable + bytes > limit) return false;
    for (const account of victims) {
      for (const taken of account.evictable) {
        if (this.#fits(asker, bytes)) return true;
        this.#forget(account, taken);
        taken.evict();
      }
    }
    return this.#fits(asker, bytes);
  }

  #forget(account: Account, taken: EvictableBytes): void {
    if (!account.evictable.delete(taken)) return;
    account.evictableBytes -= taken.bytes;
    account.used -= taken.bytes;
  }

  giveBack(asker: Asker, bytes: number): void {
    this.#accounts[asker].used -= bytes;
  }

  /** Takes bytes now for somebody who holds `held` already. See {@link BodyHold.demand}. */
  demand(asker: Asker, held: number, bytes: number): void {
    if (this.take(asker, bytes)) return;
    throw held + bytes > this.#accounts[asker].limit ? tooDear() : overloaded();
  }

  /** Takes bytes for somebody who holds `held` already, as soon as there are so many. See {@link BodyHold.wait}. */
  async wait(asker: Asker, held: number, bytes: number): Promise<void> {
    const account = this.#accounts[asker];
    if (held + bytes > account.limit) throw tooDear();
    // When all that is held is held by those who wait, nothing comes free until one of them is refused.
    const idle = asker === "stranger" ? account.used : this.used;
    if (account.waiting >= MAX_WAITING || held + account.stuck >= idle) throw overloaded();
    account.waiting += 1;
    account.stuck += held;
    try {
      for (let waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        if (this.take(asker, bytes)) return;
      }
    } finally {
      account.waiting -= 1;
      account.stuck -= held;
    }
    throw overloaded();
  }
}

/** What one request or WebSocket holds of the budget. */
export class BodyHold {
  readonly #budget: BodyBudget;
  #asker: Asker = "stranger";
  #bytes = 0;
  /** The request is over: nobody would give back what was taken now. */
  #over = false;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Whoever asks has shown a key of the deployment. Said before anything is taken. */
  trust(): void {
    this.#asker = "known";
  }

  get trusted(): boolean {
    return this.#asker === "known";
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes further bytes. False: there are not so many just now. */
  take(bytes: number): boolean {
    if (this.#over || !this.#budget.take(this.#asker, bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** See {@link BodyBudget.takeEvictable}. The bytes are not among those that this request gives back at its end. */
  takeEvictable(bytes: number, evict: () => void): (() => void) | null {
    return this.#over ? null : this.#budget.takeEvictable(this.#asker, bytes, evict);
  }

  /**
   * Takes further bytes as soon as there are so many, after {@link take} could not.
   *
   * @throws GatewayError 413 when there never will be, 503 when it takes too long or others wait already.
   */
  async wait(bytes: number): Promise<void> {
    if (this.#over) throw overloaded();
    await this.#budget.wait(this.#asker, this.#bytes, bytes);
    this.#bytes += bytes;
    if (!this.#over) return;
    this.release();
    throw overloaded();
  }

  /**
   * Takes further bytes now.
   *
   * @throws GatewayError 413 when there never will be so many, 503 when there are not so many just now.
   */
  demand(bytes: number): void {
    if (this.#over) throw overloaded();
    this.#budget.demand(this.#asker, this.#bytes, bytes);
    this.#bytes += bytes;
  }

  /** Gives so many bytes back, or as many as are held. */
  giveBack(bytes: number): void {
    const back = Math.min(bytes, this.#bytes);
    this.#budget.giveBack(this.#asker, back);
    this.#bytes -= back;
  }

  /** Gives back what is held beyond so many bytes: what a request no longer needs while it waits. */
  keep(bytes: number): void {
    if (bytes < this.#bytes) this.giveBack(this.#bytes - bytes);
  }

  /** Gives everything back for good: what still goes on for the request gets nothing more. */
  end(): void {
    this.#over = true;
    this.release();
  }

  /** Gives everything back. */
  release(): void {
    this.giveBack(this.#bytes);
  }
}

function tooDear(): GatewayError {
  return new GatewayError(
    413,
    "the request body takes more memory than this deployment has for it: send less, or fewer values in it",
    { code: "request_too_large" },
  );
}

/** The 503 of a request for which there is no memory. Without `Retry-After`, as all refusals for lack of room (contract, Errors). */
export function overloaded(): GatewayError {
  return new GatewayError(503, "the gateway has no memory left for this request just now: try again", {
    code: "overloaded",
  });
}
