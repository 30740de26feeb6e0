/**
 * Whether a web page can make a host name resolve to this machine (DNS rebinding), so that a browser treats the page's
 * requests as same-origin. An IP address cannot be rebound, and browsers always resolve localhost to this machine.
 *
 * @param hostname in the form of `URL`
 */
export function isRebindable(hostname: string): boolean {
  const isAddress = hostname.startsWith("[") || /^\d+(?:\.\d+){3}$/.test(hostname);
  return !isAddress && !/^(?:.+\.)?localhost\.?$/.test(hostname);
}
