import { startSession } from "../session.ts";
import { words } from "../ui/words.ts";
import { ApiError, errorMessage } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/**
 * Signs in with the admin key or the password.
 *
 * @throws ApiError with the reason of the failure.
 */
export async function signIn(adminKey: string): Promise<void> {
  const response = await fetch("/admin/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ admin_key: adminKey }),
  }).catch(() => null);
  if (response === null) throw new ApiError(0, words.gatewayCannotBeReached);
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null);
    throw new ApiError(response.status, errorMessage(body, response.status));
  }
  const answer: AnswerOf<"POST /admin/login"> = await response.json();
  startSession(answer.token, answer.expires_in);
}
