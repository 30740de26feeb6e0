import { startSession } from "./session.ts";

/** Where the browser leaves for the identity provider. */
export const SIGN_IN_ADDRESS = "/admin/oidc/start";

/** Name of the page to which this tab returns. Present: this tab has begun to sign in. */
const KEY = "polygate.signing-in";

let failure = "";

/** Why the last sign-in at the identity provider failed; empty: it did not. */
export const getSignInFailure = (): string => failure;

/** Remembers the page before this tab leaves for the identity provider. */
export function rememberPage(): void {
  sessionStorage.setItem(KEY, location.hash);
}

/**
 * Takes the result of a sign-in at the identity provider out of the address, and starts the session. Must run before the
 * pages read the address. Ignores a token if this tab has not begun to sign in: a foreign link must not change the session.
 */
export function takeSignInResult(): void {
  const result = new URLSearchParams(location.hash.slice(1));
  const token = result.get("signed_in");
  const reason = result.get("sign_in_failed");
  if (token === null && reason === null) return;
  const page = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  history.replaceState(null, "", `${location.pathname}${page ?? ""}`);
  if (page === null) return;
  if (token === null) failure = reason ?? "";
  else startSession(token, Number(result.get("expires_in")));
}
