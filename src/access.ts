import {
  assertDialectAllowed,
  assertModelAllowed,
  assertNetworkAllowed,
  isModelAllowed,
} from "./core/auth/access-rules.ts";
import { authenticateAdmin, authenticateToken } from "./core/auth/administrators.ts";
import type { CallerKey } from "./core/auth/caller-keys.ts";
import { authenticateCaller, type Caller } from "./core/auth/callers.ts";
import { rejectReboundHost } from "./core/auth/development-keys.ts";
import { selectStrictestMode } from "./core/config/history-mode.ts";
import { assertRole } from "./core/config/roles.ts";
import { toGatewayError } from "./core/errors/gateway-error.ts";
import type { Context } from "./core/ports/context.ts";
import { TAGS_HEADER } from "./core/routing/control-headers.ts";
import type { CallerEndpoint, PathParams } from "./core/routing/endpoint.ts";
import type { Route } from "./core/routing/route-group.ts";
import { ROUTE_GROUPS } from "./routes.ts";

/** Credential sources, in order of precedence. Several styles have the same ones. */
const credentialSources = [
  ...new Map(
    ROUTE_GROUPS.flatMap(({ credentials = [] }) =>
      credentials.map((source) => [JSON.stringify(source), source]),
    ),
  ).values(),
];

/** Credential sources of each route family: those of its first group. */
const sourcesByFamily = new Map(
  ROUTE_GROUPS.toReversed().flatMap(({ family, credentials: sources }) =>
    sources === undefined ? [] : [[family, sources] as const],
  ),
);

/** Rejects a caller whose key may not be used from its network or for the route's style. */
function assertInScope({ key }: Caller, style: string | undefined, { clientAddress }: Context): void {
  assertNetworkAllowed(key?.entry, clientAddress);
  if (style !== undefined) assertDialectAllowed(key?.entry, style);
}

async function authenticate(
  endpoint: CallerEndpoint,
  { family, style }: Pick<Route, "family" | "style">,
  context: Context,
): Promise<Caller> {
  const caller = await authenticateCaller(
    context,
    credentialSources,
    sourcesByFamily.get(family),
    await endpoint.onBehalfOf?.(context),
    (key) => noteCallerKey(context, key),
  );
  assertInScope(caller, style, context);
  rejectReboundHost(context, caller);
  return caller;
}

/** Notes the key, team and user of a request, also of one that is refused for its key. */
function noteCallerKey({ facts, requestLimits, refusedRequest }: Context, key: CallerKey): void {
  facts.key = key.id;
  refusedRequest.allowsModel = (model) => isModelAllowed({ key }, requestLimits, model);
  refusedRequest.assertModelAllowed = (model) => assertModelAllowed({ key }, requestLimits, model);
  const { team, user } = key.entry;
  if (team !== undefined && team !== "") facts.team = team;
  if (user !== undefined && user !== "") facts.user = user;
  const { subjects = [] } = key;
  if (key.entry.history === undefined && subjects.length === 0) return;
  const mode = selectStrictestMode([key.entry.history, ...subjects.map(({ entry }) => entry.history)]);
  if (mode !== undefined) facts.history = mode;
}

/** Authenticates the caller as the endpoint requires, and serves the request: the only place that enforces access. */
export async function authorizeAndServe(
  { endpoint, ...route }: Pick<Route, "endpoint" | "family" | "style">,
  context: Context,
  params: PathParams,
): Promise<Response> {
  switch (endpoint.access) {
    case "none":
      return endpoint.serve(context, params);
    case "caller": {
      let caller: Caller;
      try {
        caller = await authenticate(endpoint, route, context);
      } catch (thrown) {
        await endpoint.onAuthenticationFailed?.(context, toGatewayError(thrown, context.requestId));
        throw thrown;
      }
      if (context.request.headers.has(TAGS_HEADER)) {
        // Few requests have tags.
        const { addHeaderTags } = await import("./core/routing/request-tags.ts");
        await addHeaderTags(context, caller);
      }
      return endpoint.serve(context, params, caller);
    }
    case "admin": {
      const { name, role } = await authenticateAdmin(context);
      context.facts.administrator = name;
      context.facts.administratorRole = role;
      assertRole(role, endpoint.role);
      return endpoint.serve(context, params);
    }
    case "token":
      return endpoint.serve(context, params, await authenticateToken(context));
  }
}
