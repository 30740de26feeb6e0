/** Whether a credential has the form of a JWT. Such a credential is never checked as an admin key. */
export function looksLikeToken(credential: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(credential);
}

/** Loads the token module with the first credential that looks like a token (bench/results/startup.md). */
export const loadTokenModule = () => import("./admin-token.ts");
