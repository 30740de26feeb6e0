/**
 * Whether a web page can make a host name lead to this machine (DNS rebinding), so that a browser takes the page's requests for
 * same-origin ones. An IP address cannot be rebound, and browsers always resolve localhost to this machine.
 *
 * @param hostname as `URL` has it
 */
export function isRebindable(hostname: string): boolean {
  const isAddress = hostname.startsWith("[") || /^\d+(?:\.\d+){3}$/.test(hostname);
  return !isAddress && !/^(?:.+\.)?localhost\.?$/.test(hostname);
}
