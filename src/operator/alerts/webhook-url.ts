import type { Config } from "../../core/config/schema.ts";
import { checkPageUrl, isListedPrivateHost, parseHostEntry } from "../../core/url-safety/index.ts";

/** The result of checking a webhook's URL: the URL and whether `alerts.private_hosts` lists its host, or an error. */
export type WebhookUrlCheck =
  | { readonly ok: true; readonly url: URL; readonly isListed: boolean }
  | { readonly ok: false; readonly message: string };

/**
 * Decides whether alerts may be sent to a URL: to the public internet, and to the private hosts that are listed.
 *
 * @param developmentHosts hosts that the environment variables allow for development
 */
export function checkWebhookUrl(
  text: string,
  { private_hosts }: Pick<Config["alerts"], "private_hosts">,
  developmentHosts: ReadonlySet<string>,
): WebhookUrlCheck {
  const listed = new Set(private_hosts.map(parseHostEntry).filter((host) => host !== null));
  const checked = checkPageUrl(text, { privateHosts: new Set([...developmentHosts, ...listed]) });
  if (checked.ok) return { ...checked, isListed: isListedPrivateHost(checked.url, listed) };
  const { code, message } = checked;
  if (code !== "url_host_forbidden") return { ok: false, message };
  return { ok: false, message: `${message} To allow it, add the host to private_hosts of the alerts.` };
}
