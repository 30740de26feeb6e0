import { AUTH_SECRETS, findAuthFault } from "../../../core/config/account-auth-rules.ts";
import { isShortenedSecret, maskText } from "../../../core/config/marked-secrets.ts";
import {
  type AccountAuth,
  authFields,
  authShape,
  authTypeOf,
} from "../../../core/config/schemas/account-auth-schema.ts";
import type { Account } from "../../../core/config/schemas/account-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { requestObject } from "../request-fields.ts";

/** `auth` in a request. An empty field is the same as an absent one. */
export const authRequestSchema = once(() => requestObject(() => authShape(0)));

/** `auth` as administrators see it: with its effective type, and with masked secrets. */
export function authView(account: Account): AccountAuth {
  const view = { ...account.auth, type: authTypeOf(account) };
  for (const field of AUTH_SECRETS) {
    const value = view[field];
    if (value !== undefined) view[field] = maskText(authFields.shape[field], value);
  }
  return view;
}

/**
 * Completes the sent settings with the stored secrets. A secret that is absent, empty or masked keeps its stored value, but
 * only for the endpoint that it was configured for.
 *
 * @throws GatewayError 400 if a field is missing, unusable or of another type
 */
function mergeAuth(sent: AccountAuth | undefined, stored?: AccountAuth): AccountAuth | undefined {
  if (sent === undefined) return stored;
  const { type } = sent;
  const given = Object.entries(sent).filter(([, value]) => value !== "" && value !== undefined);
  const merged: AccountAuth = { ...Object.fromEntries(given), type };
  const isSameEndpoint = stored?.type === type && stored.token_url === merged.token_url;
  for (const field of AUTH_SECRETS) {
    const value = merged[field];
    if (value !== undefined && !isShortenedSecret(value)) continue;
    const kept = isSameEndpoint ? stored[field] : undefined;
    if (kept !== undefined) merged[field] = kept;
    else if (value !== undefined)
      throw invalidRequest(`auth.${field}: this is masked; send the secret itself`, `auth.${field}`);
  }
  const fault = findAuthFault(merged);
  if (fault !== null) throw invalidRequest(`auth.${fault.field}: ${fault.problem}`, `auth.${fault.field}`);
  return merged;
}

/**
 * The account with the sent settings, but without a type that follows from its other fields. Throws as {@link mergeAuth}.
 *
 * @param stored the account before the edit
 */
export function withAuth(account: Account, sent: AccountAuth | undefined, stored?: Account): Account {
  const { auth: _, ...rest } = account;
  // A client may send back the type of the view.
  const isUnchanged = stored?.auth === undefined && stored !== undefined && sent?.type === authTypeOf(stored);
  const auth = mergeAuth(isUnchanged ? undefined : sent, stored?.auth);
  return auth === undefined || auth.type === authTypeOf(rest) ? rest : { ...rest, auth };
}

/** Throws 400 if an imported account has settings that {@link findAuthFault} refuses. */
export function assertImportedAuth(accounts: readonly Pick<Account, "auth">[]): void {
  for (const [index, { auth }] of accounts.entries()) {
    const fault = auth === undefined ? null : findAuthFault(auth);
    if (fault === null) continue;
    const param = `accounts[${index}].auth.${fault.field}`;
    throw invalidRequest(`${param}: ${fault.problem}`, param);
  }
}
