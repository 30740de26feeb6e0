import * as z from "zod/mini";
import { startSession } from "../session.ts";
import { words } from "../ui/words.ts";
import { ApiError, errorMessage } from "./client.ts";

const loginAnswer = z.object({ token: z.string(), expires_in: z.number() });

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
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, errorMessage(body, response.status));
  const answer = loginAnswer.safeParse(body);
  if (!answer.success) throw new ApiError(response.status, words.gatewayGaveNoToken);
  startSession(answer.data.token, answer.data.expires_in);
}
