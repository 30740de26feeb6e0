import type { Context } from "../http/context.ts";
import { GatewayError } from "../http/errors.ts";

/** Lets an administrator through. Throws 401 for anybody else. */
export async function authenticateAdmin(context: Context, _access: "admin" | "jwt"): Promise<void> {
  const key = context.platform.settings.adminKey;
  if (key === null || context.request.headers.get("authorization") !== `Bearer ${key}`) {
    throw new GatewayError(401, "administrators only", { code: "invalid_api_key" });
  }
}
