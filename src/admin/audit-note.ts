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
