import * as z from "zod";
import { countSignIn, uncountSignIn } from "../../../core/auth/sign-in-attempts.ts";
import { getSigningSecret } from "../../../core/auth/signing-secret.ts";
import { maskText } from "../../../core/config/marked-secrets.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import type { Administrator } from "../../../core/config/schemas/administrator-schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { truncateText } from "../../../core/encoding/text-slices.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse, openEndpoint } from "../../../core/routing/endpoint.ts";
import { editConfig } from "../editing/config-edit.ts";
import { ENTRY_HEADERS, entryEtag, IF_MATCH } from "../etag.ts";
import { requestObject } from "../request-fields.ts";
import { startSession } from "./admin-session.ts";
import {
  beginSignIn,
  completeSignIn,
  type OidcIdentity,
  type OidcSettings,
  SIGN_IN_SECONDS,
} from "./oidc-flow.ts";

/** The cookie that ties the answer of the identity provider to the browser that began to sign in. */
const COOKIE = "polygate_oidc";
const CALLBACK = "/admin/oidc/callback";
/** Attempts at the identity provider are counted apart from those with passwords. */
const COUNTED_AS = "oidc ";

const oidcShape = () => configSchema.shape.oidc.unwrap().shape;

const oidcViewSchema = () =>
  z.object({
    issuer: z.string(),
    client_id: z.string(),
    has_client_secret: z.boolean(),
    client_secret_preview: z.string(),
    scope: z.string(),
    redirect_uri: z.string(),
    label: z.string(),
    /** The address to register at the identity provider. */
    callback: z.string(),
  });

/** Omitted fields keep their values, and so does an empty secret; a null secret removes it. */
const oidcChangeSchema = requestObject(
  () => ({
    issuer: oidcShape().issuer.unwrap().optional(),
    client_id: oidcShape().client_id.unwrap().optional(),
    client_secret: oidcShape().client_secret.unwrap().nullable().optional(),
    scope: oidcShape().scope.unwrap().optional(),
    redirect_uri: oidcShape().redirect_uri.unwrap().optional(),
    label: oidcShape().label.unwrap().optional(),
  }),
  oidcViewSchema,
);

const getRedirectUri = ({ url }: Context, { oidc }: Config): string =>
  oidc.redirect_uri === "" ? `${url.origin}${CALLBACK}` : oidc.redirect_uri;

function oidcView(context: Context, config: Config) {
  const { client_secret: secret, ...rest } = config.oidc;
  return {
    ...rest,
    has_client_secret: secret !== "",
    client_secret_preview: maskText(oidcShape().client_secret, secret),
    callback: getRedirectUri(context, config),
  };
}

async function respond(context: Context, config: Config): Promise<Response> {
  const headers = { etag: await entryEtag(config, config.oidc) };
  return Response.json(oidcView(context, config), { headers });
}

/** Returns the settings and the secret that signs the cookie. Throws 404 if there is no identity provider. */
async function readSettings(
  context: Context,
): Promise<OidcSettings & { readonly config: Config; readonly secret: string }> {
  const snapshot = await context.platform.configuration.readFresh();
  const { oidc } = snapshot.config;
  const secret = await getSigningSecret(context.platform, snapshot);
  if (oidc.issuer === "" || oidc.client_id === "" || secret === null) {
    throw new GatewayError(404, "no identity provider is configured for administrators", {
      code: "not_found",
    });
  }
  return {
    config: snapshot.config,
    secret,
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: oidc.client_secret,
    scope: oidc.scope,
    redirectUri: getRedirectUri(context, snapshot.config),
    fetch: context.platform.deploymentFetch,
    now: context.platform.now(),
    platform: context.platform,
    waitUntil: (work) => context.waitUntil(work),
  };
}

function createCookie({ url }: Context, value: string, seconds: number): string {
  const secure = url.protocol === "https:" ? "; Secure" : "";
  return `${COOKIE}=${value}; Path=/admin/oidc; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function readCookie(request: Request): string {
  const cookies = (request.headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? "";
}

/**
 * Rejects a browser that another site has sent. Each start counts, so a page could keep its visitors' addresses from
 * signing in.
 *
 * @throws GatewayError 403
 */
function rejectOtherSites({ request }: Context): void {
  if (request.headers.get("sec-fetch-site") !== "cross-site") return;
  throw new GatewayError(403, "begin to sign in on the page of the console", { code: "permission_denied" });
}

function findBySubject({ administrators }: Config, subject: string): Administrator | undefined {
  return administrators.find(({ disabled, oidc_subject }) => !disabled && oidc_subject === subject);
}

/** Finds an administrator without a subject. An entry with another subject belongs to another person. */
function findByEmail(
  { administrators }: Config,
  { email, isEmailVerified }: OidcIdentity,
): Administrator | undefined {
  if (email === "" || !isEmailVerified) return undefined;
  return administrators.find(
    (entry) => !entry.disabled && entry.oidc_subject === "" && entry.email === email,
  );
}

/** Longest part of an unknown person's name that is shown: it stands in a header. */
const MAX_SHOWN_NAME = 100;
/** The codes of OAuth 2.0 and OpenID Connect are such words. Anybody can send a browser here with another text. */
const ERROR_CODE = /^\w{1,60}$/;

/** Back to the console. The fragment never reaches a server. */
function redirectToConsole(context: Context, fragment: Record<string, string>): Response {
  const headers = new Headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  headers.set("location", `/admin#${new URLSearchParams(fragment)}`);
  headers.append("set-cookie", createCookie(context, "", 0));
  return new Response(null, { status: 302, headers });
}

const callbackSchema = lazyObject(() => ({
  code: z.string().max(4_096).optional(),
  state: z.string().max(200).default(""),
  error: z.string().max(200).optional(),
}));

export const OIDC_ENDPOINTS = [
  /** `GET /admin/oidc`: whether the sign-in page offers an identity provider. */
  openEndpoint({
    method: "GET",
    path: "/admin/oidc",
    summary: "Whether administrators can sign in at an identity provider",
    answers: jsonResponse(() => z.object({ enabled: z.boolean(), label: z.string() })),
    handler: async (context) => {
      const { oidc } = (await context.config()).config;
      return Response.json({ enabled: oidc.issuer !== "" && oidc.client_id !== "", label: oidc.label });
    },
  }),
  /** `GET /admin/oidc/start`: sends the browser to the identity provider (authorization code with PKCE). */
  openEndpoint({
    method: "GET",
    path: "/admin/oidc/start",
    summary: "Sign in at the identity provider",
    answers: () => ({ "text/html": { type: "string" } }),
    statuses: {
      302: "To the identity provider. A browser also goes back to the console, with an error in the fragment.",
      403: "Another site sent the browser here.",
      404: "No identity provider is configured.",
    },
    handler: async (context) => {
      const settings = await readSettings(context);
      rejectOtherSites(context);
      let begun: Awaited<ReturnType<typeof beginSignIn>>;
      try {
        await countSignIn(context, COUNTED_AS);
        begun = await beginSignIn(settings, settings.secret);
      } catch (thrown) {
        // A browser would show the bare error, without a way back.
        const isPage = context.request.headers.get("sec-fetch-mode") === "navigate";
        if (!isPage || !(thrown instanceof GatewayError)) throw thrown;
        return redirectToConsole(context, { sign_in_failed: thrown.message });
      }
      const { address, cookie } = begun;
      const headers = new Headers({ location: address, "cache-control": "no-store" });
      headers.append("set-cookie", createCookie(context, cookie, SIGN_IN_SECONDS));
      return new Response(null, { status: 302, headers });
    },
  }),
  /** `GET /admin/oidc/callback`: the identity provider sends the browser back with a code. */
  openEndpoint({
    method: "GET",
    path: CALLBACK,
    summary: "Callback of the identity provider",
    query: callbackSchema,
    answers: () => ({ "text/html": { type: "string" } }),
    statuses: { 302: "To the console, with a token or an error in the fragment." },
    handler: async (context, { query: { code, state, error } }) => {
      const settings = await readSettings(context);
      try {
        if (error !== undefined) {
          const reason = ERROR_CODE.test(error) ? error : "unknown error";
          throw invalidRequest(`the identity provider refused: ${reason}`);
        }
        if (code === undefined) throw invalidRequest("the identity provider sent no code");
        const identity = await completeSignIn(settings, {
          secret: settings.secret,
          cookie: readCookie(context.request),
          state,
          code,
          isKnownSubject: (subject) => findBySubject(settings.config, subject) !== undefined,
          countAttempt: () => countSignIn(context, COUNTED_AS),
        });
        const { config } = await context.platform.configuration.readFresh();
        const administrator = findBySubject(config, identity.subject) ?? findByEmail(config, identity);
        if (administrator === undefined) {
          const name = truncateText(identity.email || identity.subject, MAX_SHOWN_NAME);
          throw invalidRequest(`${name} is no administrator here: an owner must add this address or subject`);
        }
        // Both the start and the return were counted.
        await uncountSignIn(context, COUNTED_AS);
        await uncountSignIn(context, COUNTED_AS);
        const { token, expires_in } = await startSession(context, administrator);
        return redirectToConsole(context, { signed_in: token, expires_in: String(expires_in) });
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        return redirectToConsole(context, { sign_in_failed: thrown.message });
      }
    },
  }),
  adminEndpoint({
    method: "GET",
    path: "/admin/oidc/settings",
    role: "owner",
    summary: "Read the identity provider of administrators",
    answers: jsonResponse(oidcViewSchema),
    ...ENTRY_HEADERS,
    handler: async (context) => respond(context, (await context.platform.configuration.readFresh()).config),
  }),
  adminEndpoint({
    method: "PUT",
    path: "/admin/oidc/settings",
    role: "owner",
    summary: "Change the identity provider of administrators",
    body: oidcChangeSchema,
    answers: jsonResponse(oidcViewSchema),
    ...ENTRY_HEADERS,
    ...IF_MATCH,
    handler: async (context, { body }) => {
      const change = (current: Config): Config => ({
        ...current,
        oidc: {
          issuer: body.issuer ?? current.oidc.issuer,
          client_id: body.client_id ?? current.oidc.client_id,
          client_secret: body.client_secret === null ? "" : body.client_secret || current.oidc.client_secret,
          scope: body.scope ?? current.oidc.scope,
          redirect_uri: body.redirect_uri ?? current.oidc.redirect_uri,
          label: body.label ?? current.oidc.label,
        },
      });
      const { config } = await editConfig(context, change, { entry: ({ oidc }) => oidc });
      return respond(context, config);
    },
  }),
] satisfies readonly Endpoint[];
