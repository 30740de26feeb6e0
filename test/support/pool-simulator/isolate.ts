import type { AccountPoolClient, Lease } from "../../../src/core/ports/accounts.ts";
import type { SetTimer } from "../../../src/core/ports/clock.ts";
import { HEARTBEAT_MS } from "../../../src/pool/leases/lease-timing.ts";
import type { SimulatedClock } from "./clock.ts";
import type { Caller } from "./network.ts";
import { ObjectReset } from "./pool-object.ts";
import type { SlotUsage } from "./slot-usage.ts";

/** How long an isolate that was stopped may still ask the pool whether its slots are its own, milliseconds. */
const RESUME_MS = 2_150;

/** Uses a slot for `ms` milliseconds, and renews its lease meanwhile. Returns whether it was held to the end. */
export async function useSlot(lease: Lease, ms: number, setTimer: SetTimer): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let stopTick = () => {};
  const stop = setTimer(ms, () => resolve(true));
  const tick = () => {
    stopTick = setTimer(HEARTBEAT_MS, tick);
    lease.renew().then(
      (isHeld) => {
        if (!isHeld) resolve(false);
      },
      () => resolve(false),
    );
  };
  stopTick = setTimer(HEARTBEAT_MS, tick);
  const isHeld = await promise;
  stop();
  stopTick();
  return isHeld;
}

export interface IsolateOptions {
  /** How much faster its clock runs, as a share. */
  readonly clockDrift?: number;
  /** How far its clock is off, milliseconds. */
  readonly clockOffset?: number;
}

/** An isolate with a clock of its own, which may be stopped, or cut off from the network. */
export class SimulatedIsolate implements Caller {
  readonly #clock: SimulatedClock;
  readonly #started: number;
  readonly #rate: number;
  readonly #offset: number;
  /** Nothing of it runs until then. */
  #stoppedUntil = 0;
  /** No message comes in or goes out until then. */
  #cutOffUntil = 0;
  #failsAtOnce = false;

  constructor(clock: SimulatedClock, { clockDrift = 0, clockOffset = 0 }: IsolateOptions = {}) {
    this.#clock = clock;
    this.#started = clock.now();
    this.#rate = 1 + clockDrift;
    this.#offset = clockOffset;
  }

  readonly now = (): number =>
    this.#started + this.#offset + (this.#clock.now() - this.#started) * this.#rate;

  /** A timer that waits while the isolate is stopped. */
  readonly setTimer: SetTimer = (ms, run) => {
    let stop: () => void;
    const fire = () => {
      const wait = this.#stoppedUntil - this.#clock.now();
      if (wait > 0) stop = this.#clock.setTimer(wait, fire);
      else run();
    };
    stop = this.#clock.setTimer(ms / this.#rate, fire);
    return () => stop();
  };

  readonly waitUntil = (): void => undefined;

  stop(ms: number): void {
    this.#stoppedUntil = Math.max(this.#stoppedUntil, this.#clock.now() + ms);
  }

  /** @param atOnce messages fail at once, instead of when the connection is given up */
  cutOff(ms: number, atOnce = false): void {
    this.#cutOffUntil = Math.max(this.#cutOffUntil, this.#clock.now() + ms);
    this.#failsAtOnce = atOnce;
  }

  /** Whether it is stopped, or was a moment ago and may still be asking the pool whether to end its requests. */
  get isStopped(): boolean {
    return this.#clock.now() < this.#stoppedUntil + RESUME_MS;
  }

  get sendDelayMs(): number {
    return Math.max(0, this.#cutOffUntil - this.#clock.now());
  }

  async beforeSending(): Promise<void> {
    const ms = this.sendDelayMs;
    if (ms === 0) return;
    if (this.#failsAtOnce) throw new Error("cannot be reached");
    // The sender learns of it when the connection is given up.
    await this.#clock.after(ms);
    throw new ObjectReset("cut off");
  }

  /** When it runs again, its timers come first. */
  async beforeReceiving(): Promise<void> {
    for (;;) {
      const wait = Math.max(this.#stoppedUntil, this.#cutOffUntil) - this.#clock.now();
      if (wait <= 0) return;
      await this.#clock.after(wait + 1);
    }
  }

  /**
   * A request: it acquires a slot, uses it for `ms` milliseconds unless the pool ends its lease, and releases it.
   *
   * @param dies its timers stop without a release, and the runtime disposes of its stubs a little later
   */
  async request(
    pool: AccountPoolClient,
    usage: SlotUsage<SimulatedIsolate>,
    { ms, waitMs, dies = false }: { readonly ms: number; readonly waitMs: number; readonly dies?: boolean },
  ): Promise<"done" | "aborted" | "refused"> {
    const acquired = await pool.acquire({ requestId: "r", model: "m", waitMs }).catch(() => null);
    if (acquired === null || "refused" in acquired) return "refused";
    const { lease } = acquired;
    usage.begin(lease.account.id, this);
    const isHeld = await useSlot(lease, ms, this.setTimer);
    usage.end(lease.account.id, this);
    if (dies) this.#clock.setTimer(5, () => lease.release());
    else lease.release();
    return isHeld ? "done" : "aborted";
  }
}
