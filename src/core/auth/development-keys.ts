import { DEVELOPMENT_API_KEY } from "../config/initial-config.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { isRebindable } from "../http/host-name.ts";
import type { Context } from "../ports/context.ts";
import { hasDefaultPassword } from "./admin-credentials.ts";
import type { Caller } from "./callers.ts";

function forbidden(message: string): GatewayError {
  return new GatewayError(403, message, { code: "permission_denied" });
}

/**
 * Refuses requests of other web pages to the admin API while the publicly known admin key is valid: nothing else would stop
 * such a page. An own key or password protects by itself (docs/contract.md, general rule 4).
 *
 * @param isFromOtherPage whether the browser reports a page of another origin
 * @throws GatewayError 403
 */
export async function rejectForeignPage(context: Context, isFromOtherPage: boolean): Promise<void> {
  if (!isFromOtherPage && !isRebindable(context.url.hostname)) return;
  const { config } = await context.config();
  if (!(await hasDefaultPassword(context.platform.variables, config))) return;
  throw forbidden(
    isFromOtherPage
      ? "pages of other origins may not use the admin API with the development key: set ADMIN_KEY or a password"
      : "with the development admin key use localhost or an IP address: a web page can rebind any other name to this " +
          "machine. To use a name, set ADMIN_KEY or a password",
  );
}

/**
 * Refuses the development API key at host names that a web page may have rebound (DNS rebinding).
 *
 * @throws GatewayError 403
 */
export function rejectReboundHost({ platform, url }: Context, { key, credential }: Caller): void {
  if (!platform.variables.development || key === null || credential !== DEVELOPMENT_API_KEY) return;
  if (!isRebindable(url.hostname)) return;
  throw forbidden(
    `the development key ${DEVELOPMENT_API_KEY} works only at localhost or an IP address: a web page can rebind any other ` +
      "name to this machine. To use a name, add an API key of your own",
  );
}
