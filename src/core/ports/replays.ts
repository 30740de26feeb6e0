import { DAY_MS } from "../units.ts";

/** How long an answer can be repeated, milliseconds. */
export const REPLAY_MS = DAY_MS;

/** How long a running request holds its idempotency key without a renewal, milliseconds. */
export const REPLAY_LEASE_MS = 30_000;

/** The answer of a request with an idempotency key. */
export interface ReplayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request with an idempotency key: it runs, or its answer is known. Plain data: it can be stored and sent over RPC. */
export interface ReplayRecord {
  /** The idempotency key. */
  readonly id: string;
  /** Digest of the request. */
  readonly fingerprint: string;
  /** The unique id of the request that holds the key. */
  readonly holder: string;
  /** Unix milliseconds: when another request may take the key over. */
  readonly leaseUntil: number;
  readonly answer?: ReplayAnswer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The request that wants an idempotency key. */
export type ReplayClaim = Pick<ReplayRecord, "id" | "fingerprint" | "holder">;

/**
 * The result of a claim. `claimed`: the request runs. `running`: an equal request runs. `different`: the key belongs to
 * another request.
 */
export type ReplayState =
  | { readonly state: "claimed" | "running" | "different" }
  | { readonly state: "answered"; readonly answer: ReplayAnswer };

/** The idempotency keys of one caller. Each method is atomic. */
export interface ReplayStore {
  /** Claims the key of a request. */
  claim(claim: ReplayClaim): Promise<ReplayState>;
  /** Extends the lease of a running request. */
  renew(claim: ReplayClaim): Promise<void>;
  /** Stores the answer of the request; null: releases the key, so that a repeated request runs. */
  settle(claim: ReplayClaim, answer: ReplayAnswer | null): Promise<void>;
}

/** The part of the store of expiring objects that replays need. */
interface ReplayObjects {
  get(owner: string, kind: "replay", id: string, now: number): ReplayRecord | null;
  put(owner: string, kind: "replay", value: ReplayRecord, isUnverified?: boolean): void;
  remove(owner: string, kind: "replay", id: string, now: number): boolean;
}

/** Whose records, and the present time in Unix milliseconds. */
interface ReplayOwner {
  readonly owner: string;
  readonly now: number;
  /** Whether the owner is a caller without a managed key. */
  readonly isUnverified?: boolean;
}

const createRecord = (claim: ReplayClaim, now: number): ReplayRecord => ({
  ...claim,
  leaseUntil: now + REPLAY_LEASE_MS,
  expiresAt: now + REPLAY_MS,
});

/** See {@link ReplayStore.claim}. */
export function claimReplay(store: ReplayObjects, at: ReplayOwner, claim: ReplayClaim): ReplayState {
  const { owner, now } = at;
  const known = store.get(owner, "replay", claim.id, now);
  if (known === null || (known.answer === undefined && known.leaseUntil <= now)) {
    store.put(owner, "replay", createRecord(claim, now), at.isUnverified);
    return { state: "claimed" };
  }
  if (known.fingerprint !== claim.fingerprint) return { state: "different" };
  return known.answer === undefined ? { state: "running" } : { state: "answered", answer: known.answer };
}

function isHeldBy(store: ReplayObjects, { owner, now }: ReplayOwner, { id, holder }: ReplayClaim): boolean {
  const known = store.get(owner, "replay", id, now);
  return known !== null && known.holder === holder && known.answer === undefined;
}

/** See {@link ReplayStore.renew}. */
export function renewReplay(store: ReplayObjects, at: ReplayOwner, claim: ReplayClaim): void {
  if (isHeldBy(store, at, claim)) store.put(at.owner, "replay", createRecord(claim, at.now), at.isUnverified);
}

/** See {@link ReplayStore.settle}. */
export function settleReplay(
  store: ReplayObjects,
  at: ReplayOwner,
  claim: ReplayClaim,
  answer: ReplayAnswer | null,
): void {
  if (!isHeldBy(store, at, claim)) return;
  if (answer === null) store.remove(at.owner, "replay", claim.id, at.now);
  else store.put(at.owner, "replay", { ...createRecord(claim, at.now), answer }, at.isUnverified);
}
