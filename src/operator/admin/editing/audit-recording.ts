import type { ChangeNote } from "../../../core/config/snapshot.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { Endpoint, PathParams } from "../../../core/routing/endpoint.ts";

/** Creates the audit entry of a request's change, without the changes themselves. */
export function createAuditNote({
  platform,
  clientAddress,
  request,
  facts,
}: Context): Omit<ChangeNote, "changes" | "more"> {
  return {
    at: platform.now(),
    who: facts.administrator ?? "",
    address: clientAddress,
    action: `${request.method} ${facts.route ?? ""}`,
  };
}

/**
 * Adds an audit entry for an action that is not an edit of the configuration. Ignores failures of the audit log: the action
 * is already done.
 *
 * @param changes the outcome, by subject
 * @param who defaults to the administrator of the request
 */
export async function recordAction(
  context: Context,
  changes: Readonly<Record<string, unknown>>,
  who?: string,
): Promise<void> {
  const note = createAuditNote(context);
  const outcomes = Object.entries(changes).map(([path, after]) => ({
    path,
    before: null,
    after: JSON.stringify(after),
  }));
  await Promise.resolve(
    context.platform.auditLog.recordEntry({ ...note, who: who ?? note.who, changes: outcomes, more: 0 }),
  ).catch(() => undefined);
}

/** Returns the endpoints with auditing: each call of one that declares a deletion adds an audit entry. */
export function withDeletionAudit<E extends Endpoint>(endpoints: readonly E[]): E[] {
  return endpoints.map((endpoint) => {
    if (endpoint.access !== "admin" || endpoint.audit !== "deletion") return endpoint;
    return {
      ...endpoint,
      serve: async (context: Context, params: PathParams) => {
        const response = await endpoint.serve(context, params);
        const changed = Object.entries(params).map(([path, before]) => ({ path, before, after: null }));
        const note = { ...createAuditNote(context), changes: changed, more: 0 };
        await context.platform.auditLog.recordEntry(note);
        return response;
      },
    };
  });
}
