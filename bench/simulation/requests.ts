import type { AccountFailure, AccountPoolClient } from "../../src/core/ports/accounts.ts";
import type { SimulatedClock } from "../../test/support/pool-simulator/clock.ts";
import { useSlot } from "../../test/support/pool-simulator/isolate.ts";
import type { SlotUsage } from "../../test/support/pool-simulator/slot-usage.ts";
import type { Outcomes } from "./outcomes.ts";

/** Maximum total wait of a request, in milliseconds. */
const WAIT_MS = 20_000;
/** The provider rejects a banned account after `REFUSED_MS`; a request fails over at most `SWITCHES` times. */
const REFUSED_MS = 80;
const SWITCHES = 3;

const BANNED: AccountFailure = {
  kind: "account_suspended",
  message: "suspended",
  status: 403,
  fault: "account",
  retryAfter: null,
};

/** Outcome if no pool that might have granted a slot responds. */
const UNREACHABLE = { refused: "unreachable" } as const;

/** What all requests of a run share. */
export interface RequestContext {
  readonly clock: SimulatedClock;
  readonly outcomes: Outcomes;
  readonly usage: SlotUsage<string>;
  /** Accounts that the provider rejects. */
  readonly banned: ReadonlySet<string>;
}

/** Runs a request of an isolate: acquires a slot, uses it for `ms` milliseconds, and releases it. */
export async function runRequest(
  { clock, outcomes, usage, banned }: RequestContext,
  pool: AccountPoolClient,
  region: number,
  { requestId, caller, ms }: { readonly requestId: string; readonly caller: string; readonly ms: number },
): Promise<void> {
  const arrived = clock.now();
  const exclude: string[] = [];
  outcomes.requests += 1;
  for (let attempt = 0; attempt <= SWITCHES; attempt += 1) {
    const asked = clock.now();
    const waitMs = Math.max(0, arrived + WAIT_MS - asked);
    const acquired = await pool
      .acquire({ requestId, model: "m", caller, exclude, waitMs })
      .catch(() => UNREACHABLE);
    if ("refused" in acquired) {
      outcomes.refused(acquired.refused);
      return;
    }
    const { lease } = acquired;
    outcomes.granted(region, clock.now() - asked);
    const isBanned = banned.has(lease.account.id);
    usage.begin(lease.account.id, requestId);
    const held = await useSlot(lease, isBanned ? REFUSED_MS : ms, clock.setTimer);
    usage.end(lease.account.id, requestId);
    if (!isBanned) {
      if (held) await lease.reportSuccess().catch(() => undefined);
      lease.release();
      outcomes.finished(held);
      return;
    }
    await lease.reportFailure(BANNED).catch(() => false);
    lease.release();
    exclude.push(lease.account.id);
  }
  outcomes.refused("banned");
}
