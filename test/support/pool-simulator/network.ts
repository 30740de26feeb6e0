import type { Clock } from "../../../src/core/ports/clock.ts";
import { type ArrivedCall, ObjectReset, type PoolObject } from "./pool-object.ts";

/** What a network does to messages. By default, they arrive at once. */
export interface NetworkOptions {
  readonly clock: Clock;
  /** Travel time of a message in one direction, milliseconds. */
  readonly latency?: () => number;
  /** Whether a message is lost. */
  readonly isLost?: () => boolean;
  /** Whether an answer is lost whose object restarts while the answer travels. */
  readonly isAnswerLost?: () => boolean;
}

/** The sender of calls, which may be unable to send or to receive for a while. */
export interface Caller {
  /** Resolves when a call can leave; throws if it cannot. */
  beforeSending(): Promise<void>;
  /** Resolves when an answer can be received. */
  beforeReceiving(): Promise<void>;
  /** How long a message without an answer waits before it leaves, milliseconds. */
  readonly sendDelayMs: number;
}

export interface OutgoingCall extends ArrivedCall {
  /** The caller asked for the result together with an earlier call: there is no message, only the answer. */
  readonly isPipelined?: boolean;
}

export class MessageLost extends Error {}

/** Messages between isolates and objects. */
export class Network {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** One message on its way. */
  async travel(): Promise<void> {
    const { clock, latency, isLost } = this.#options;
    const ms = latency?.() ?? 0;
    if (ms > 0) await new Promise<void>((resolve) => clock.setTimer(ms, resolve));
    if (isLost?.() === true) throw new MessageLost();
  }

  /** Calls an object, and returns its answer. */
  async call<T>(
    to: PoolObject,
    call: OutgoingCall,
    work: () => T | Promise<T>,
    caller?: Caller,
  ): Promise<Awaited<T>> {
    if (call.isPipelined !== true) {
      await caller?.beforeSending();
      to.messages += 1;
      await this.travel();
      await to.admit(call);
    }
    const start = to.restarts;
    const answer = await work();
    await to.untilAnswering();
    const wasLost = to.restarts !== start;
    await this.travel();
    if (wasLost || (to.restarts !== start && this.#options.isAnswerLost?.() === true))
      throw new ObjectReset("the object was reset");
    await caller?.beforeReceiving();
    return answer;
  }

  /** Sends a message without an answer. It is lost if the object restarts before it arrives. */
  notify(to: PoolObject, work: () => void, caller?: Caller): void {
    const { clock, latency } = this.#options;
    const { restarts: start } = to;
    const ms = (caller?.sendDelayMs ?? 0) + (latency?.() ?? 0);
    const arrive = () => {
      if (to.restarts === start) work();
    };
    to.messages += 1;
    if (ms > 0) clock.setTimer(ms, arrive);
    else arrive();
  }
}
