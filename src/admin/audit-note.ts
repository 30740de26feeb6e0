import type { ChangeNote } from "../config/snapshot.ts";
import type { Context } from "../platform/context.ts";
import type { Endpoint, Params } from "../routing/endpoint.ts";

/** What is recorded of a change that a request makes, but for what has changed. */
export function noteOf({
  platform,
  clientAddress,
  request,
  log,
}: Context): Omit<ChangeNote, "changes" | "more"> {
  return {
    at: platform.now(),
    who: log.administrator ?? "",
    address: clientAddress,
    action: `${request.method} ${log.route ?? ""}`,
  };
}

/**
 * Records what was done besides edits of the configuration. What cannot be recorded is done all the same: it has been by then.
 *
 * @param changes what came of it, by what it concerns
 * @param who unless given, the administrator that the request came from
 */
export async function record(
  context: Context,
  changes: Readonly<Record<string, unknown>>,
  who?: string,
): Promise<void> {
  const note = noteOf(context);
  const outcomes = Object.entries(changes).map(([path, after]) => ({
    path,
    before: null,
    after: JSON.stringify(after),
  }));
  await Promise.resolve(
    context.platform.journal.record({ ...note, who: who ?? note.who, changes: outcomes, more: 0 }),
  ).catch(() => undefined);
}

/** The same endpoints; what they change, which is not in the configuration, is recorded. */
export function recorded(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.map((endpoint) => {
    const changes =
      endpoint.method === "DELETE" || endpoint.paths.some((path) => path.endsWith("/delete-all"));
    if (endpoint.access !== "admin" || !changes) return endpoint;
    return {
      ...endpoint,
      serve: async (context: Context, params: Params) => {
        const response = await endpoint.serve(context, params);
        const changed = Object.entries(params).map(([path, before]) => ({ path, before, after: null }));
        const note = { ...noteOf(context), changes: changed, more: 0 };
        await context.platform.journal.record(note);
        return response;
      },
    };
  });
}
