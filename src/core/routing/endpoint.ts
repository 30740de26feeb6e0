import type { ZodType } from "zod";
import type { AdminToken } from "../auth/administrators.ts";
import type { Caller } from "../auth/callers.ts";
import { getDefaultRole, type Role } from "../config/roles.ts";
import { isObject, type JsonObject } from "../encoding/json.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import {
  type JsonBody,
  parseWith,
  readBodyValue,
  readJsonBody,
  rejectReservedNames,
} from "../http/json-body.ts";
import type { Context } from "../ports/context.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Path parameters, percent-decoded. */
export type PathParams = Readonly<Record<string, string>>;

/** What a handler gets besides the request's context. The kind of endpoint adds the authenticated caller or token. */
export interface HandlerInput<Body, Query> {
  readonly params: PathParams;
  /** The body, validated by the declared schema. */
  readonly body: Body;
  /** The query, validated by the declared schema. */
  readonly query: Query;
}

/** Response schemas by media type. Created only when the OpenAPI document is requested. */
export type ResponseSchemas = () => Readonly<Record<string, ZodType | JsonObject>>;

/** The part of an endpoint that the OpenAPI document describes. */
export interface EndpointDescription {
  readonly method: Method;
  /** Path patterns: `:name` is one segment, `:name+` the rest of the path. */
  readonly paths: readonly string[];
  /** Suffix after the last colon of a path that ends in `:name+`, as in `/models/x:countTokens`. */
  readonly verb?: string;
  /**
   * Selects among endpoints with the same path and method: whether this one takes the request. Endpoints with a condition
   * come before the one without.
   */
  readonly when?: (request: { readonly headers: Headers; readonly url: URL }) => boolean;
  /** One line for readers of the document. */
  readonly summary: string;
  readonly body?: ZodType;
  /** Whether the body may be absent; it is then an empty object. */
  readonly optionalBody?: boolean;
  /** Maximum body size in bytes; default 64 KiB for an open endpoint, 32 MiB for one that needs a credential. */
  readonly maxBody?: number;
  readonly query?: ZodType;
  /** Schema of a query that the handler parses itself, more leniently than a schema can express. */
  readonly lenientQuery?: ZodType;
  /** A body that the handler parses itself while it streams in: its media type and JSON schema. */
  readonly streamedBody?: { readonly mediaType: string; readonly schema: JsonObject };
  readonly answers: ResponseSchemas;
  /** Response schemas of 202, if the work may continue after the response. */
  readonly accepted?: ResponseSchemas;
  /** Whether a repeated request with the same `Idempotency-Key` gets the answer of the first one. For callers only. */
  readonly acceptsIdempotencyKey?: boolean;
  /** Optional headers of the request, with descriptions. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Headers of a successful response, with descriptions. Not every response has all of them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further statuses with descriptions: from 400 on they are errors, others have no body. The list may be incomplete. */
  readonly statuses?: Readonly<Record<number, string>>;
}

/** An endpoint of the API: its description, who may call it, and its handler. */
export type Endpoint = EndpointDescription &
  (
    | { readonly access: "none"; serve(context: Context, params: PathParams): Promise<Response> }
    | {
        readonly access: "caller";
        serve(context: Context, params: PathParams, caller: Caller): Promise<Response>;
        /** Runs when authentication fails. */
        onAuthenticationFailed?(context: Context, error: GatewayError): Promise<void>;
        /** The credential that the request's URL stands for. It replaces all other credentials of the request. */
        onBehalfOf?(context: Context): Promise<string>;
      }
    | {
        readonly access: "admin";
        /** The weakest role that may call it. */
        readonly role: Role;
        /** `deletion`: it deletes something outside the configuration, and each call gets an entry in the audit log. */
        readonly audit?: "deletion";
        serve(context: Context, params: PathParams): Promise<Response>;
      }
    | {
        readonly access: "token";
        serve(context: Context, params: PathParams, token: AdminToken): Promise<Response>;
      }
  );

/** An endpoint for callers with a key or token. */
export type CallerEndpoint = Extract<Endpoint, { readonly access: "caller" }>;

/** Who may call: any client, a caller with a key or token, an administrator, or an administrator's JWT only. */
export type Access = Endpoint["access"];

/**
 * What a client in TypeScript knows of an endpoint: the console's API is typed by it. It exists for the compiler alone, and
 * never as a value.
 */
export interface EndpointTypes<M extends Method, Path, BodyInput, Answers extends ResponseSchemas> {
  readonly types?: {
    readonly method: M;
    readonly path: Path;
    readonly body: BodyInput;
    readonly answer: ReturnType<Answers>["application/json"] extends ZodType<infer Answer> ? Answer : unknown;
  };
}

/** The declaration of an endpoint. `AuthFields` are the fields that authentication adds to the handler's input. */
export interface Declaration<Body, Query, AuthFields>
  extends Omit<EndpointDescription, "paths" | "body" | "query"> {
  /** One pattern, or several equivalent ones. */
  readonly path: string | readonly string[];
  readonly body?: ZodType<Body>;
  readonly query?: ZodType<Query>;
  /** Handles a request. Errors it throws are formatted for the route's family. */
  handler(context: Context, input: HandlerInput<Body, Query> & AuthFields): Response | Promise<Response>;
}

/** A declaration whose types a client can use. */
type TypedDeclaration<
  M extends Method,
  Path extends string | readonly string[],
  Body,
  BodyInput,
  Query,
  Answers extends ResponseSchemas,
  AuthFields,
> = Declaration<Body, Query, AuthFields> & {
  readonly method: M;
  readonly path: Path;
  readonly body?: ZodType<Body, BodyInput>;
  readonly answers: Answers;
};

/** The declaration of an endpoint without authentication. */
export interface OpenDeclaration<Body, Query> extends Declaration<Body, Query, unknown> {
  /** Answers a request with an invalid body or query; its errors are formatted. Without it, `fault` itself is formatted. */
  onInvalidInput?(context: Context, fault: unknown): Promise<Response>;
}

function describeEndpoint<AuthFields>(
  declaration: Declaration<unknown, unknown, AuthFields>,
): EndpointDescription {
  const { path, handler: _, ...rest } = declaration;
  return { ...rest, paths: typeof path === "string" ? [path] : path };
}

/** Enough for a long conversation with inline images, and for a large configuration. */
const MAX_BODY = 32 * 1024 * 1024;
const MAX_OPEN_BODY = 64 * 1024;

/**
 * Reads and validates a request's body and query. Throws 400 that names the invalid field, and 413 for too large a body.
 *
 * @param checkBody checks the parsed body before it is validated
 */
async function readInput(
  { request, url, memory, platform, pathModel }: Context,
  params: PathParams,
  {
    query,
    body,
    optionalBody,
    maxBody = MAX_BODY,
  }: Pick<EndpointDescription, "query" | "body" | "optionalBody" | "maxBody">,
  checkBody?: (value: unknown) => void,
): Promise<HandlerInput<unknown, unknown>> {
  const parsedQuery =
    query === undefined ? undefined : parseWith(query, Object.fromEntries(url.searchParams));
  if (body === undefined) return { params, query: parsedQuery, body: undefined };
  const options = { memory, limit: maxBody, timeoutMs: platform.variables.bodyTimeoutMs, pathModel };
  const value = await readBodyValue(request, options, optionalBody === true);
  checkBody?.(value);
  return { params, query: parsedQuery, body: parseWith(body, value) };
}

/** Declares an endpoint without authentication (docs/contract/keys.md, Authentication, rule 4). */
export function openEndpoint<
  const M extends Method,
  const Path extends string | readonly string[],
  Body,
  BodyInput,
  Query,
  Answers extends ResponseSchemas,
>(
  declaration: OpenDeclaration<Body, Query> &
    TypedDeclaration<M, Path, Body, BodyInput, Query, Answers, unknown>,
): Endpoint & EndpointTypes<M, Path, BodyInput, Answers>;
export function openEndpoint<Body, Query>(declaration: OpenDeclaration<Body, Query>): Endpoint;
export function openEndpoint(declaration: OpenDeclaration<unknown, unknown>): Endpoint {
  const { onInvalidInput, ...rest } = declaration;
  const declared: Declaration<unknown, unknown, unknown> = rest;
  const bounded = { ...declared, maxBody: declared.maxBody ?? MAX_OPEN_BODY };
  return {
    ...describeEndpoint(declared),
    access: "none",
    serve: async (context, params) => {
      let input: HandlerInput<unknown, unknown>;
      try {
        input = await readInput(context, params, bounded);
      } catch (fault) {
        if (onInvalidInput === undefined) throw fault;
        return onInvalidInput(context, fault);
      }
      return declared.handler(context, input);
    },
  };
}

/** The declaration of an endpoint for callers. */
export interface CallerDeclaration<Body, Query>
  extends Declaration<Body, Query, { readonly caller: Caller }> {
  /** Runs when authentication fails. */
  onAuthenticationFailed?(context: Context, error: GatewayError): Promise<void>;
  /** The credential that the request's URL stands for. It replaces all other credentials of the request. */
  onBehalfOf?(context: Context): Promise<string>;
}

/** Few requests have an `Idempotency-Key`. */
const loadIdempotency = () => import("./idempotency.ts");

/** Serves a request; one with an `Idempotency-Key` at most once. `body` is its text, or its value. */
function serveIdempotently(
  accepts: boolean | undefined,
  context: Context,
  caller: Caller,
  body: unknown,
  serve: (context: Context) => Response | Promise<Response>,
): Response | Promise<Response> {
  if (accepts !== true || context.connection !== undefined || !context.request.headers.has("idempotency-key"))
    return serve(context);
  return loadIdempotency().then(({ serveOnce }) => serveOnce(context, caller, body, serve));
}

/** Declares an endpoint for callers with a key or a token of the provider. Its handler gets the caller. */
export function callerEndpoint<Body, Query>(declaration: CallerDeclaration<Body, Query>): CallerEndpoint {
  const { onAuthenticationFailed, onBehalfOf, ...rest } = declaration;
  const declared: Declaration<unknown, unknown, { readonly caller: Caller }> = rest;
  return {
    ...describeEndpoint(declared),
    access: "caller",
    serve: async (context, params, caller) => {
      if (caller.mode === "managed") context.memory.markKnown();
      const input = { ...(await readInput(context, params, declared)), caller };
      return serveIdempotently(declared.acceptsIdempotencyKey, context, caller, input.body, (served) =>
        declared.handler(served, input),
      );
    },
    ...(onAuthenticationFailed === undefined ? {} : { onAuthenticationFailed }),
    ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
  };
}

/** The declaration of an endpoint whose handler validates the body: it may pass the body on as it was sent. */
export interface RawBodyDeclaration<Query> extends Omit<CallerDeclaration<JsonBody, Query>, "body"> {
  /** The schema for the OpenAPI document. */
  readonly body: ZodType;
}

/** Longer names of models are not noted. */
const MAX_NOTED_NAME = 300;

/** Notes the model that a body names, in case that the request is refused. */
function noteModel({ refusedRequest }: Context, body: unknown): void {
  const model = isObject(body) ? body["model"] : undefined;
  if (typeof model === "string" && model.length <= MAX_NOTED_NAME) refusedRequest.model ??= model;
}

/** Declares an endpoint for callers that gets its JSON body unvalidated, together with its text. */
export function rawBodyEndpoint<Query>(declaration: RawBodyDeclaration<Query>): CallerEndpoint {
  const { body: schema, acceptsIdempotencyKey, ...rest } = declaration;
  const { maxBody: limit = MAX_BODY } = rest;
  const endpoint = callerEndpoint<unknown, Query>({
    ...rest,
    handler: async (context, input) => {
      const { memory, platform, request, pathModel } = context;
      const options = { memory, limit, timeoutMs: platform.variables.bodyTimeoutMs, pathModel };
      const body = await readJsonBody(request, options);
      noteModel(context, body.value);
      // Few bodies have this member.
      if (isObject(body.value) && isObject(body.value["metadata"])) {
        const { addMetadataTags } = await import("./request-tags.ts");
        await addMetadataTags(context, input.caller, body.value);
      }
      return serveIdempotently(acceptsIdempotencyKey, context, input.caller, body.text, (served) =>
        declaration.handler(served, { ...input, body }),
      );
    },
  });
  return {
    ...endpoint,
    body: schema,
    ...(acceptsIdempotencyKey === undefined ? {} : { acceptsIdempotencyKey }),
  };
}

/** Additional fields in the declaration of an endpoint for administrators. */
interface AdminDeclaration {
  /** The weakest role that may call it. Absent: a viewer for `GET`, an operator for all else. */
  readonly role?: Role;
  /** `deletion`: it deletes something outside the configuration, and each call gets an entry in the audit log. */
  readonly audit?: "deletion";
}

/** Declares an endpoint for administrators, by token or admin key. */
export function adminEndpoint<
  const M extends Method,
  const Path extends string | readonly string[],
  Body,
  BodyInput,
  Query,
  Answers extends ResponseSchemas,
>(
  declaration: TypedDeclaration<M, Path, Body, BodyInput, Query, Answers, unknown> & AdminDeclaration,
): Endpoint & EndpointTypes<M, Path, BodyInput, Answers> {
  const { role = getDefaultRole(declaration.method), audit, ...rest } = declaration;
  const declared: Declaration<unknown, unknown, unknown> = rest;
  return {
    ...describeEndpoint(declared),
    access: "admin",
    role,
    ...(audit === undefined ? {} : { audit }),
    serve: async (context, params) => {
      context.memory.markKnown();
      const input = await readInput(context, params, declared, rejectReservedNames);
      return declared.handler(context, input);
    },
  };
}

/** Declares an endpoint for administrators with a token. Its handler gets the token: id, expiry, role and administrator. */
export function tokenEndpoint<
  const M extends Method,
  const Path extends string | readonly string[],
  Body,
  BodyInput,
  Query,
  Answers extends ResponseSchemas,
>(
  declaration: TypedDeclaration<M, Path, Body, BodyInput, Query, Answers, { readonly token: AdminToken }>,
): Endpoint & EndpointTypes<M, Path, BodyInput, Answers> {
  const declared: Declaration<unknown, unknown, { readonly token: AdminToken }> = declaration;
  return {
    ...describeEndpoint(declared),
    access: "token",
    serve: async (context, params, token) => {
      context.memory.markKnown();
      return declared.handler(context, { ...(await readInput(context, params, declared)), token });
    },
  };
}

/** A JSON response with this schema. */
export function jsonResponse<Schema extends ZodType | JsonObject>(
  schema: () => Schema,
): () => { readonly "application/json": Schema } {
  return () => ({ "application/json": schema() });
}
