import type { AccountStateStore } from "../../core/ports/account-states.ts";
import { type BatchStore, mergeCountedTokens } from "../../core/ports/batches.ts";
import {
  type CallerObjects,
  deleteUpload,
  eraseObjects,
  wasErasedSince,
} from "../../core/ports/caller-objects.ts";
import type { FileStore } from "../../core/ports/files.ts";
import { claimReplay, type ReplayStore, renewReplay, settleReplay } from "../../core/ports/replays.ts";
import type { ResponseStore } from "../../core/ports/responses.ts";
import type { UploadStore } from "../../core/ports/uploads.ts";
import { ExpiringStore, type OwnerQuota } from "../../core/storage/expiring-store.ts";
import type { Sql } from "../../core/storage/sql.ts";

/** How often expired objects are deleted, milliseconds. */
const SWEEP_MS = 60_000;

/** The quota of all pass-through callers together, as a multiple of one caller's quota. */
const PASS_THROUGH_QUOTA_FACTOR = 4;

/**
 * Stores callers' objects until they expire: stored responses, metadata of uploaded files,
 * batches, and uploads in progress.
 */
export class CallerObjectStore {
  readonly #objects: ExpiringStore<CallerObjects>;
  readonly #now: () => number;
  readonly #isManaged: (owner: string) => Promise<boolean>;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /**
   * @param now returns milliseconds since the epoch
   * @param isManaged whether the owner is a managed key
   */
  constructor(
    sql: Sql,
    quota: OwnerQuota,
    now: () => number,
    isManaged: (owner: string) => Promise<boolean>,
  ) {
    this.#objects = new ExpiringStore(sql, quota, PASS_THROUGH_QUOTA_FACTOR * quota.characters);
    this.#now = now;
    this.#isManaged = isManaged;
  }

  responses(owner: string, startedAt: number): ResponseStore {
    return {
      get: async (id) => this.#objects.get(owner, "response", id, this.#now()),
      put: (response) => this.#put({ owner, startedAt }, "response", response),
      remove: async (id) => this.#objects.remove(owner, "response", id, this.#now()),
    };
  }

  files(owner: string, startedAt: number): FileStore {
    return {
      get: async (id) => this.#objects.get(owner, "file", id, this.#now()),
      list: async () => this.#objects.list(owner, "file", this.#now()),
      put: (file) => this.#put({ owner, startedAt }, "file", file),
    };
  }

  batches(owner: string, startedAt: number): BatchStore {
    return {
      get: async (id) => this.#objects.get(owner, "batch", id, this.#now()),
      list: async () => this.#objects.list(owner, "batch", this.#now()),
      put: async (batch) => {
        const isOwnToken = !(await this.#isManaged(owner));
        // Nothing waits between reading and storing, so that two requests cannot both count the same tokens.
        const stored = this.#objects.get(owner, "batch", batch.id, this.#now());
        const { merged, countedBefore } = mergeCountedTokens(batch, stored);
        this.#store({ owner, startedAt, isOwnToken }, "batch", merged);
        return countedBefore;
      },
    };
  }

  accountStates(owner: string, startedAt: number): AccountStateStore {
    return {
      get: async (id) => this.#objects.get(owner, "state", id, this.#now()),
      list: async () => this.#objects.list(owner, "state", this.#now()),
      put: (state) => this.#put({ owner, startedAt }, "state", state),
      remove: async (id) => this.#objects.remove(owner, "state", id, this.#now()),
    };
  }

  uploads(owner: string, startedAt: number): UploadStore {
    return {
      get: async (id) => this.#objects.get(owner, "upload", id, this.#now()),
      put: (upload) => this.#put({ owner, startedAt }, "upload", upload),
      getPiece: async (id) => this.#objects.get(owner, "piece", id, this.#now()),
      putPiece: (piece) => this.#put({ owner, startedAt }, "piece", piece),
      remove: async (id) => deleteUpload(this.#objects, owner, id, this.#now()),
    };
  }

  replays(owner: string, startedAt: number): ReplayStore {
    const at = async () => {
      const isUnverified = !(await this.#isManaged(owner));
      this.#sweep();
      return { owner, now: this.#now(), isUnverified };
    };
    return {
      claim: async (claim) => claimReplay(this.#objects, await at(), claim),
      renew: async (claim) => renewReplay(this.#objects, await at(), claim),
      settle: async (claim, answer) => {
        const place = await at();
        const isErased = wasErasedSince(this.#objects, owner, startedAt, place.now);
        settleReplay(this.#objects, place, claim, isErased ? null : answer);
      },
    };
  }

  /** Deletes everything of a caller. Returns the number of deleted objects. */
  async erase(owner: string): Promise<number> {
    return eraseObjects(this.#objects, owner, this.#now());
  }

  async #put<Kind extends keyof CallerObjects & string>(
    { owner, startedAt }: { readonly owner: string; readonly startedAt: number },
    kind: Kind,
    value: CallerObjects[Kind],
  ): Promise<void> {
    const isOwnToken = !(await this.#isManaged(owner));
    this.#store({ owner, startedAt, isOwnToken }, kind, value);
  }

  #store<Kind extends keyof CallerObjects & string>(
    {
      owner,
      startedAt,
      isOwnToken,
    }: { readonly owner: string; readonly startedAt: number; readonly isOwnToken: boolean },
    kind: Kind,
    value: CallerObjects[Kind],
  ): void {
    this.#sweep();
    if (wasErasedSince(this.#objects, owner, startedAt, this.#now())) return;
    this.#objects.put(owner, kind, value, isOwnToken);
  }

  #sweep(): void {
    const now = this.#now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    this.#objects.deleteExpired(now);
  }
}
