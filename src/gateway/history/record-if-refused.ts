import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import { FILES_STYLE } from "../../core/config/styles.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RequestOutcome } from "../../core/ports/request-outcome.ts";

/** The status of a request that its client has cancelled. */
const CLIENT_LEFT = 499;

/** Whether a request of a configured key was refused before it got a record: it asked for a model, not for a file. */
function isRefused(
  { refusedRequest: { message, style, hasRecord }, facts }: Context,
  { method, status }: RequestOutcome,
): boolean {
  if (message === undefined || hasRecord === true || status === CLIENT_LEFT || method !== "POST")
    return false;
  if (facts.key === undefined || facts.operation === "files" || style === FILES_STYLE) return false;
  return facts.operation !== undefined || style !== undefined;
}

/** Most requests are not refused. */
async function loadAndRecord(context: Context, outcome: RequestOutcome): Promise<void> {
  const { recordRefusedRequest } = await import("./refused-requests.ts");
  await recordRefusedRequest(context, outcome);
}

/**
 * Records a request that was refused before a generation began, if the history is on for it.
 *
 * @param snapshot the configuration that the request read; null: none
 * @returns what is still being sent; null: nothing is recorded
 */
export function recordIfRefused(
  context: Context,
  outcome: RequestOutcome,
  snapshot: ConfigSnapshot | null,
): Promise<void> | null {
  if (!isRefused(context, outcome) || context.facts.history === "none") return null;
  return (snapshot?.config.history.limit ?? 0) > 0 ? loadAndRecord(context, outcome) : null;
}
