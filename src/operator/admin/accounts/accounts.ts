import * as z from "zod";
import { accountIdentifier } from "../../../core/config/account-identifier.ts";
import { hasOwnCredentials } from "../../../core/config/schemas/account-auth-schema.ts";
import { accountSchema } from "../../../core/config/schemas/account-schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { hasIdentity, isSameAccount, listAccountNames } from "../account-identifiers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { pageSchema, queryNumber } from "../paging.ts";
import { requestObject } from "../request-fields.ts";
import { conflictError } from "../resource-errors.ts";
import { authRequestSchema, withAuth } from "./account-auth.ts";
import { accountsChangedResponse, accountsChangedSchema, assertProxyExists } from "./account-edit.ts";
import { accountFilterShape, selectAccounts } from "./account-filter.ts";
import { accountViewSchema, accountViews } from "./account-view.ts";

const MAX_PAGE_SIZE = 5_000;

/** Query of `GET /admin/accounts` (docs/contract/admin-entries.md). */
const accountListSchema = lazyObject(() => ({
  page: queryNumber(1, Number.MAX_SAFE_INTEGER),
  page_size: queryNumber(10, MAX_PAGE_SIZE),
  ...accountFilterShape(),
}));

/** Minimal check of an e-mail address. Texts of dots alone pass here; the check of path segments rejects them. */
const EMAIL_PATTERN = /^(?:[^@\s]+@[^@\s]+|\.+)$/;

/** Body of `POST /admin/accounts`: an account that signs in, or an account that has only a token. */
const newAccountSchema = requestObject(
  () => ({ ...accountSchema.shape, auth: authRequestSchema().optional() }),
  accountViewSchema,
)
  .refine(hasIdentity, {
    error: "an account needs a token (an API key), or an email or mobile to sign in with",
    path: ["email"],
  })
  // An account that does not sign in by its e-mail address may have any name.
  .refine(
    ({ email, token, auth }) =>
      email === "" || token !== "" || hasOwnCredentials(auth) || EMAIL_PATTERN.test(email),
    {
      error:
        "must be an e-mail address if the account signs in with a password. For a provider with API keys, send the key as token: then any name will do",
      path: ["email"],
    },
  )
  .refine(({ password, token, auth }) => password !== "" || token !== "" || hasOwnCredentials(auth), {
    error: "a password is needed, or the API key as token",
    path: ["password"],
  })
  .refine(({ password, auth }) => auth?.type !== "password" || password !== "", {
    error: "an account that signs in needs a password",
    path: ["password"],
  })
  .refine(({ token, auth }) => auth?.type !== "api_key" || token !== "", {
    error: "the API key is needed",
    path: ["token"],
  })
  .refine(({ token, auth }) => !hasOwnCredentials(auth) || token === "", {
    error: "an account with these credentials has no token of its own",
    path: ["token"],
  })
  .refine(({ password, auth }) => !hasOwnCredentials(auth) || password === "", {
    error: "an account with these credentials has no password",
    path: ["password"],
  });

/** Endpoints that list accounts and add one. */
export const ACCOUNT_LIST_ENDPOINTS = [
  /** `GET /admin/accounts` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "GET",
    path: "/admin/accounts",
    summary: "List the accounts",
    query: accountListSchema,
    answers: jsonResponse(() => pageSchema(accountViewSchema())),
    handler: async (context, { query: { page, page_size, ...filter } }) => {
      const { config } = await context.platform.configuration.readFresh();
      const { places, health } = await selectAccounts(context, config, filter);
      const start = (page - 1) * page_size;
      return Response.json({
        items: await accountViews(context, config, places.slice(start, start + page_size), health),
        total: places.length,
        page,
        page_size,
        total_pages: Math.ceil(places.length / page_size),
      });
    },
  }),
  /** `GET /admin/account-names`: for lists that know only the identifiers, such as the history. */
  adminEndpoint({
    method: "GET",
    path: "/admin/account-names",
    summary: "Names of the accounts",
    answers: jsonResponse(() => z.object({ names: z.record(z.string(), z.string()) })),
    handler: async (context) => {
      const { config } = await context.config();
      return Response.json({ names: Object.fromEntries(await listAccountNames(config)) });
    },
  }),
  /** `POST /admin/accounts` (docs/contract/admin-entries.md). */
  adminEndpoint({
    method: "POST",
    path: "/admin/accounts",
    summary: "Add an account",
    body: newAccountSchema,
    answers: jsonResponse(() => accountsChangedSchema().extend({ identifier: z.string() })),
    handler: async (context, { body }) => {
      const added = withAuth(body, body.auth);
      const snapshot = await editConfig(context, (current) => {
        assertProxyExists(current, added.proxy_id);
        if (current.accounts.some((account) => isSameAccount(account, added)))
          throw conflictError("the account");
        return { ...current, accounts: [...current.accounts, added] };
      });
      return accountsChangedResponse(snapshot, { identifier: await accountIdentifier(added) });
    },
  }),
] satisfies readonly Endpoint[];
