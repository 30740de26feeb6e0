import type { Credentials, SignInResult } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { TokenType } from "../../core/ports/pool-configuration.ts";
import type { Fetch, OutboundProxy } from "../../core/ports/upstream.ts";
import type { RegisteredProvider } from "../providers/provider-registry.ts";
import type { UpstreamAccount } from "../providers/upstream-account.ts";

/** How requests of an account reach its provider. */
export interface AccountRoute extends Pick<UpstreamAccount, "fetch" | "openSocket"> {
  readonly proxy: OutboundProxy | null;
}

/** Gets a token for an account: from the token endpoint of its credentials, or by a sign-in at its provider. */
export async function signInAccount(
  { platform, provider }: { readonly platform: Platform; readonly provider: RegisteredProvider },
  credentials: Credentials,
  { fetch, proxy }: AccountRoute,
  signal: AbortSignal,
): Promise<SignInResult> {
  const { auth } = credentials;
  if (auth === undefined) return provider.api.signIn(credentials, fetch, signal);
  const { requestAccessToken } = await import("../credentials/modules.ts");
  return requestAccessToken(platform, auth, proxy, signal);
}

/** The account with its token. With AWS keys, each attempt of a request is signed instead. */
export function createUpstreamAccount(
  token: string,
  tokenType: TokenType | undefined,
  { fetch, openSocket }: Pick<UpstreamAccount, "fetch" | "openSocket">,
): UpstreamAccount {
  const route = openSocket === undefined ? { fetch } : { fetch, openSocket };
  if (tokenType === undefined) return { token, ...route };
  if (tokenType === "access_token") return { token, tokenType, ...route };
  const signingFetch: Fetch = async (url, init) => {
    const { signAwsRequest } = await import("../credentials/modules.ts");
    return fetch(url, await signAwsRequest(token, url, init));
  };
  return { token: "", tokenType, fetch: signingFetch };
}
