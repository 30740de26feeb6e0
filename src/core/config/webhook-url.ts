import { checkPageUrl, isListedPrivateHost, parseHostEntry } from "../url-safety/index.ts";

/** The result of checking a webhook's URL: the URL and whether `private_hosts` lists its host, or an error. */
export type WebhookUrlCheck =
  | { readonly ok: true; readonly url: URL; readonly isListed: boolean }
  | { readonly ok: false; readonly message: string };

/**
 * Decides whether the gateway may send messages to a URL: to the public internet, and to the private hosts that are listed.
 *
 * @param group the group of the configuration that lists the private hosts, for errors
 */
export function checkWebhookUrl(
  text: string,
  { private_hosts }: { readonly private_hosts: readonly string[] },
  group = "alerts",
): WebhookUrlCheck {
  const listed = new Set(private_hosts.map(parseHostEntry).filter((host) => host !== null));
  const checked = checkPageUrl(text, { privateHosts: listed });
  if (checked.ok) return { ...checked, isListed: isListedPrivateHost(checked.url, listed) };
  const { code, message } = checked;
  if (code !== "url_host_forbidden") return { ok: false, message };
  return { ok: false, message: `${message} To allow it, add the host to private_hosts of the ${group}.` };
}
