import type { Platform } from "../../core/ports/platform.ts";
import type { OwnerQuota } from "../../core/storage/expiring-store.ts";
import type { Env } from "./env.ts";
import { createResponseStore, eraseCaller } from "./response-store.ts";

/** What is stored for each caller. */
type CallerStores = Pick<
  Platform,
  "responses" | "eraseCaller" | "files" | "batches" | "accountStates" | "uploads" | "replays"
>;

/** The stores of callers' objects: one Durable Object for each caller. */
export function createCallerStores(env: Env, responseQuota: OwnerQuota): CallerStores {
  return {
    responses: (owner, startedAt) => createResponseStore(env, owner, startedAt, responseQuota),
    eraseCaller: (owner) => eraseCaller(env, owner),
    files: (owner, startedAt) => {
      const store = env.RESPONSE_STORE.getByName(owner);
      return {
        get: (id) => store.getFile(id),
        list: () => store.listFiles(),
        put: (file) => store.putFile(file, Date.now() - startedAt),
      };
    },
    batches: (owner, startedAt) => {
      const store = env.RESPONSE_STORE.getByName(owner);
      return {
        get: (id) => store.getBatch(id),
        list: () => store.listBatches(),
        put: (batch) => store.putBatch(batch, Date.now() - startedAt),
      };
    },
    accountStates: (owner, startedAt) => {
      const store = env.RESPONSE_STORE.getByName(owner);
      return {
        get: (id) => store.getState(id),
        list: () => store.listStates(),
        put: (state) => store.putState(state, Date.now() - startedAt),
        remove: (id) => store.removeState(id),
      };
    },
    uploads: (owner, startedAt) => {
      const store = env.RESPONSE_STORE.getByName(owner);
      return {
        get: (id) => store.getUpload(id),
        put: (upload) => store.putUpload(upload, Date.now() - startedAt),
        getPiece: (id) => store.getPiece(id),
        putPiece: (piece) => store.putPiece(piece, Date.now() - startedAt),
        remove: (id) => store.removeUpload(id),
      };
    },
    replays: (owner, startedAt) => {
      const store = env.RESPONSE_STORE.getByName(owner);
      return {
        claim: (claim) => store.claimReplay(claim),
        renew: (claim) => store.renewReplay(claim),
        settle: (claim, answer) => store.settleReplay(claim, answer, Date.now() - startedAt),
      };
    },
  };
}
