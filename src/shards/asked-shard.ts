import type { AbortSignalLike } from "../http/light-abort-controller.ts";
import type { AccountFailure, Acquired, AcquireRequest } from "../platform/accounts.ts";
import { type Clock, inTime } from "../platform/clock.ts";

/** Asks a shard, by number, for a slot. */
export type AskShard = (
  shard: number,
  request: AcquireRequest,
  signal: AbortSignalLike | undefined,
) => Promise<Acquired>;

/** All shards, by number. */
export interface AskedShards {
  readonly ask: AskShard;
  /** Resolves, or rejects, when the shard says anything. */
  readonly isThere: (shard: number) => Promise<unknown>;
}

/** What came of a request, and at which shard. */
export type Taken = readonly [shard: number, acquired: Acquired];

/** A shard that says nothing for so long, milliseconds, is passed over. */
export const SILENT_MS = 1_500;
/** How soon a request asks again that no shard has room for, milliseconds: parts of limits, or accounts, may be on their way. */
export const AGAIN_MS = 100;

/** What a shard says at once to a request; null when it says nothing: a slot that it grants after all goes back. */
export async function askSoon(
  ask: AskShard,
  clock: Clock,
  shard: number,
  request: AcquireRequest,
  signal: AbortSignalLike | undefined,
): Promise<Acquired | null> {
  const asking = ask(shard, { ...request, waitMs: 0, passing: true }, signal);
  const answer = await inTime(asking, SILENT_MS, clock);
  if (answer === null) void asking.then(giveBackUnused, () => undefined);
  return answer;
}

/** Gives a slot back that nobody has used: it says nothing of the account. */
export async function giveBackUnused(acquired: Acquired): Promise<void> {
  if (!("lease" in acquired)) return;
  const { lease } = acquired;
  await lease.failed(UNUSED).catch(() => false);
  lease.release();
}

const UNUSED: AccountFailure = {
  kind: "unreachable",
  message: "the slot was not needed",
  status: 0,
  fault: null,
  retryAfter: null,
};
