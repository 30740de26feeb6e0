import type { Context } from "../../core/ports/context.ts";
import { DAY_MS } from "../../core/units.ts";
import { findConfiguredAccount } from "../../pool/configuration.ts";
import type { GenerationJob } from "./generation-job.ts";
import { type PinnedCaller, selectModelsOf } from "./preparation/file-references.ts";

/** How long the account of a container or a similar object is remembered, milliseconds. No provider keeps one longer. */
const REMEMBERED_MS = 30 * DAY_MS;
/** Most ids of one request or answer that are looked up or recorded. */
const MAX_IDS = 50;
/** Longest id. */
const MAX_ID_CHARS = 500;

const isPlausible = (id: string) => id !== "" && id.length <= MAX_ID_CHARS;

/** Records what an answer left at the account, for its caller. A failure must not cost the answer. */
export async function recordAccountStates(
  { context, caller }: Pick<GenerationJob, "context" | "caller">,
  account: string,
  ids: Iterable<string>,
): Promise<void> {
  // A caller's own token has only one account.
  if (caller.mode === "own-token") return;
  const store = context.platform.accountStates(caller.owner, context.startedAt);
  const expiresAt = context.platform.now() + REMEMBERED_MS;
  const recorded = [...ids].filter(isPlausible).slice(0, MAX_IDS);
  try {
    await Promise.all(recorded.map((id) => store.put({ id, account, expiresAt })));
  } catch (error) {
    context.facts.cause = `the account of a container was not stored: ${error instanceof Error ? error.name : "unknown error"}`;
  }
}

/**
 * Pins a caller to the account that has what the request names. The provider checks ids that the gateway does not
 * know: they may have been created without the gateway.
 */
export async function pinToAccount(
  context: Context,
  pinned: PinnedCaller,
  ids: readonly string[],
): Promise<Pick<PinnedCaller, "caller" | "models">> {
  const { caller, models } = pinned;
  if (caller.mode === "own-token" || caller.targetAccount !== null) return pinned;
  const store = context.platform.accountStates(caller.owner, context.startedAt);
  const wanted = [...new Set(ids)].filter(isPlausible).slice(0, MAX_IDS);
  const states = await Promise.all(wanted.map((id) => store.get(id)));
  const state = states.find((each) => each !== null);
  if (state === undefined || state === null) return pinned;
  const { config } = await context.config();
  const account = await findConfiguredAccount(config, state.account);
  if (account === null) return pinned;
  const usable = selectModelsOf(account, models);
  if (usable.length === 0) return pinned;
  return { caller: { ...caller, targetAccount: state.account }, models: usable };
}
