import { currentToken, endSession, startSession } from "../session.ts";
import { ApiError, errorMessage } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";
import { texts } from "./texts.ts";

/**
 * Signs in with the admin key or the password, or with the name and the password of an administrator.
 *
 * @param name empty: `secret` is the admin key or the password
 * @throws ApiError with the reason of the failure.
 */
export async function signIn(name: string, secret: string): Promise<void> {
  const response = await fetch("/admin/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(name.trim() === "" ? { admin_key: secret } : { name, password: secret }),
  }).catch(() => null);
  if (response === null) throw new ApiError(0, texts.gatewayCannotBeReached);
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null);
    throw new ApiError(response.status, errorMessage(body, response.status));
  }
  const answer: AnswerOf<"POST /admin/login"> = await response.json();
  startSession(answer.token, answer.expires_in);
}

/** Whether administrators can sign in at an identity provider, and its name. If that is unknown, they cannot. */
export async function readSignInOffer(): Promise<AnswerOf<"GET /admin/oidc">> {
  const response = await fetch("/admin/oidc").catch(() => null);
  if (response === null || !response.ok) return { enabled: false, label: "" };
  return response.json();
}

/** Signs out in all tabs, and ends the token at the gateway. */
export function signOut(): void {
  const headers = { authorization: `Bearer ${currentToken()}` };
  endSession();
  // `keepalive`: also if the tab is closed now. Without a gateway the token ends when it expires.
  fetch("/admin/logout", { method: "POST", headers, keepalive: true }).catch(() => null);
}
