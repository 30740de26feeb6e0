/** Error message for an address that {@link isBaseAddress} rejects. */
export const BASE_ADDRESS_FAULT =
  "must be an http or https address without a password and a query, such as https://api.example.com/v1";

/** Whether a text is an address to which the gateway may send credentials: `http` or `https`, without user and query. */
export function isBaseAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username + url.password + url.search + url.hash === "";
}
