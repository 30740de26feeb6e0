import type { ZodType } from "zod";
import type { AdminToken } from "../auth/administrators.ts";
import type { Caller } from "../auth/callers.ts";
import type { JsonObject } from "../encoding/json.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import { parseWith, readBody, readOptionalBody } from "../http/json-body.ts";
import type { Context } from "../platform/context.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The parameters of a path, percent-decoded. */
export type Params = Readonly<Record<string, string>>;

/** What a handler gets besides the request's context. Who asks is added by the kind of endpoint. */
export interface Input<Body, Query> {
  readonly params: Params;
  /** The body, checked by the declared schema. */
  readonly body: Body;
  /** The query, checked by the declared schema. */
  readonly query: Query;
}

/** What an endpoint answers by media type. Made only when the OpenAPI document is asked for. */
export type Answers = () => Readonly<Record<string, ZodType | JsonObject>>;

/** What the OpenAPI document says of an endpoint. */
export interface Described {
  readonly method: Method;
  /** Path patterns: `:name` is one segment, `:name+` the rest of the path. */
  readonly paths: readonly string[];
  /** What follows the last colon of a path that ends in `:name+`, as in `/models/x:countTokens`. */
  readonly verb?: string;
  /**
   * Where other endpoints have the same path and method: whether a request is this one's. Those that ask stand before the
   * one that takes all others.
   */
  readonly when?: (request: { readonly headers: Headers; readonly url: URL }) => boolean;
  /** One line for people. */
  readonly summary: string;
  readonly body?: ZodType;
  /** The body may be missing; then it is an empty object. */
  readonly optionalBody?: boolean;
  /** Bytes that the body may have; unless given 64 KiB for an open endpoint, and 32 MiB for one that asks for a credential. */
  readonly maxBody?: number;
  readonly query?: ZodType;
  /** A query that the handler reads itself, more leniently than a schema can say. */
  readonly lenientQuery?: ZodType;
  /** A body that the handler reads itself, as it streams in: its media type, and its JSON schema. */
  readonly streamedBody?: { readonly mediaType: string; readonly schema: JsonObject };
  readonly answers: Answers;
  /** What is answered with 202, where the work may go on behind the answer. */
  readonly accepted?: Answers;
  /** Headers of what it answers when all is well, with what each says. Not all of them are there each time. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further statuses, with when each is answered: those from 400 on are errors, others have no body. There may be more. */
  readonly statuses?: Readonly<Record<number, string>>;
}

/** One endpoint of the API: what it is called, who may call it, what it takes and what it does. */
export type Endpoint = Described &
  (
    | { readonly access: "none"; serve(context: Context, params: Params): Promise<Response> }
    | {
        readonly access: "caller";
        serve(context: Context, params: Params, caller: Caller): Promise<Response>;
        /** Called when the caller is not let in. */
        refused?(context: Context, error: GatewayError): Promise<void>;
        /** The credential that the request's address stands for: what else it carries does not count. */
        onBehalfOf?(context: Context): Promise<string>;
        /**
         * Whatever it does for a caller with a configured key it does with an account: the pool tells then whether the
         * configuration is the newest, and until then a copy will do.
         */
        readonly takesAccount?: boolean;
      }
    | { readonly access: "admin"; serve(context: Context, params: Params): Promise<Response> }
    | {
        readonly access: "token";
        serve(context: Context, params: Params, token: AdminToken): Promise<Response>;
      }
  );

/** An endpoint for callers with a key or token. */
export type CallerEndpoint = Extract<Endpoint, { readonly access: "caller" }>;

/** Who may call: anyone, a caller with a key or token, an administrator, or an administrator's JWT only. */
export type Access = Endpoint["access"];

/** What an endpoint is declared with. `Visitor` is what its handler learns of who asks. */
export interface Declaration<Body, Query, Visitor> extends Omit<Described, "paths" | "body" | "query"> {
  /** One pattern, or several under which the endpoint answers alike. */
  readonly path: string | readonly string[];
  readonly body?: ZodType<Body>;
  readonly query?: ZodType<Query>;
  /** Answers; what it throws is rendered in the shape of the route's family. */
  handler(context: Context, input: Input<Body, Query> & Visitor): Response | Promise<Response>;
}

/** What an endpoint for anyone is declared with. */
export interface OpenDeclaration<Body, Query> extends Declaration<Body, Query, unknown> {
  /** Answers a request whose body or query is not as declared; what it throws is rendered. Without it `fault` is. */
  unreadable?(context: Context, fault: unknown): Promise<Response>;
}

function described<Visitor>(declaration: Declaration<unknown, unknown, Visitor>): Described {
  const { path, handler: _, ...rest } = declaration;
  return { ...rest, paths: typeof path === "string" ? [path] : path };
}

/** Enough for a long conversation with inline images, and for a large configuration. */
const MAX_BODY = 32 * 1024 * 1024;
const MAX_OPEN_BODY = 64 * 1024;

/** Reads what a request brings, as declared. Throws 400 that names the field at fault, 413 for a body that is too long. */
async function inputOf(
  { request, url, hold, timers, platform }: Context,
  params: Params,
  { query, body, optionalBody, maxBody }: Pick<Described, "query" | "body" | "optionalBody" | "maxBody">,
  limit = maxBody ?? MAX_BODY,
): Promise<Input<unknown, unknown>> {
  const checked = query === undefined ? undefined : parseWith(query, Object.fromEntries(url.searchParams));
  if (body === undefined) return { params, query: checked, body: undefined };
  const read = optionalBody === true ? readOptionalBody : readBody;
  const intake = { hold, timers, limit, timeoutMs: platform.variables.bodyTimeoutMs };
  return { params, query: checked, body: await read(request, intake, body) };
}

/** An endpoint for anyone (contract, Authentication rule 4). */
export function open<Body, Query>(declaration: OpenDeclaration<Body, Query>): Endpoint {
  const { unreadable, ...own } = declaration;
  const declared: Declaration<unknown, unknown, unknown> = own;
  const { maxBody = MAX_OPEN_BODY } = declared;
  return {
    ...described(declared),
    access: "none",
    serve: async (context, params) => {
      let input: Input<unknown, unknown>;
      try {
        input = await inputOf(context, params, declared, maxBody);
      } catch (fault) {
        if (unreadable === undefined) throw fault;
        return unreadable(context, fault);
      }
      return declared.handler(context, input);
    },
  };
}

/** What an endpoint for callers is declared with. */
export interface CallerDeclaration<Body, Query>
  extends Declaration<Body, Query, { readonly caller: Caller }> {
  /** Called when the caller is not let in. */
  refused?(context: Context, error: GatewayError): Promise<void>;
  /** The credential that the request's address stands for: what else it carries does not count. */
  onBehalfOf?(context: Context): Promise<string>;
  /** See {@link CallerEndpoint}. */
  readonly takesAccount?: boolean;
}

/** An endpoint for callers with a key or a token of the provider; its handler learns who calls. */
export function forCallers<Body, Query>(declaration: CallerDeclaration<Body, Query>): CallerEndpoint {
  const { refused, onBehalfOf, takesAccount, ...own } = declaration;
  const declared: Declaration<unknown, unknown, { readonly caller: Caller }> = own;
  return {
    ...described(declared),
    access: "caller",
    serve: async (context, params, caller) => {
      if (caller.mode === "managed") context.hold.trust();
      return declared.handler(context, { ...(await inputOf(context, params, declared)), caller });
    },
    ...(takesAccount === undefined ? {} : { takesAccount }),
    ...(refused === undefined ? {} : { refused }),
    ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
  };
}

/** An endpoint for administrators, by token or by admin key. */
export function forAdministrators<Body, Query>(declaration: Declaration<Body, Query, unknown>): Endpoint {
  const declared: Declaration<unknown, unknown, unknown> = declaration;
  return {
    ...described(declared),
    access: "admin",
    serve: async (context, params) => {
      context.hold.trust();
      return declared.handler(context, await inputOf(context, params, declared));
    },
  };
}

/** An endpoint for administrators with a token; its handler learns when that ends. */
export function forTokens<Body, Query>(
  declaration: Declaration<Body, Query, { readonly token: AdminToken }>,
): Endpoint {
  const declared: Declaration<unknown, unknown, { readonly token: AdminToken }> = declaration;
  return {
    ...described(declared),
    access: "token",
    serve: async (context, params, token) => {
      context.hold.trust();
      return declared.handler(context, { ...(await inputOf(context, params, declared)), token });
    },
  };
}

/** An answer in JSON, by its schema. */
export function json(schema: () => ZodType | JsonObject): Answers {
  return () => ({ "application/json": schema() });
}
