import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import { FILES_STYLE } from "../../core/config/styles.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RequestOutcome } from "../../core/ports/request-outcome.ts";

/** The status of a request that its client has cancelled. */
const CLIENT_LEFT = 499;

/** Whether a refusal of this request is recorded: a configured key asks for a model, not for a file. */
export function isRefusalRecorded({ request, refusedRequest: { style }, facts }: Context): boolean {
  if (request.method !== "POST" || facts.key === undefined) return false;
  if (facts.operation === "files" || style === FILES_STYLE) return false;
  return facts.operation !== undefined || style !== undefined;
}

/** Whether a request was refused before it got a record. */
function isRefused(context: Context, { status }: RequestOutcome): boolean {
  const { message, hasRecord } = context.refusedRequest;
  if (message === undefined || hasRecord === true || status === CLIENT_LEFT) return false;
  return isRefusalRecorded(context);
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
