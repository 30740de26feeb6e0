/** Whether a credential has the form of a token. Such a credential is never taken for an admin key. */
export function looksLikeToken(credential: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(credential);
}

/** What makes and reads tokens: loaded with the first credential that looks like one (docs/performance.md). */
export const tokens = () => import("./admin-token.ts");
