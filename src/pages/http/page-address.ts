import { checkPageUrl, type PageUrlCheck, type UrlSafetyOptions } from "../../core/url-safety/index.ts";
import type { Variables } from "../../core/variables/variables.ts";

/** What an error says about a private address unless the caller runs the service. */
export const PRIVATE_HOSTS_ADVICE = "The setting PAGE_PRIVATE_HOSTS lists exceptions.";

/** Which pages may be loaded, and what the error about a private address says. */
export interface PageAddressOptions extends UrlSafetyOptions {
  /** The caller runs the service, so the error has the command that allows the address. */
  readonly isDevelopment?: boolean;
}

/** Returns the options that the variables of a deployment set. */
export function readPageAddressOptions({
  development,
  pages,
}: Pick<Variables, "development" | "pages">): PageAddressOptions {
  return { privateHosts: pages.privateHosts, isDevelopment: development };
}

/** Checks a page's address, see {@link checkPageUrl}. The error about a private one names the setting that allows it. */
export function checkPageAddress(input: string, options: PageAddressOptions): PageUrlCheck {
  const check = checkPageUrl(input, options);
  if (check.ok || check.privateHost === undefined) return check;
  return { ...check, message: `${check.message} ${describeSetting(check.privateHost, options)}` };
}

function describeSetting(host: string, { privateHosts, isDevelopment = false }: PageAddressOptions): string {
  if (!isDevelopment) return PRIVATE_HOSTS_ADVICE;
  const hosts = [...privateHosts, host].join(",");
  return `To allow it, start with npm start -- --var PAGE_PRIVATE_HOSTS:${hosts} (or set the environment variable PAGE_PRIVATE_HOSTS=${hosts}).`;
}
