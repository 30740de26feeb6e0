/** A page's address for display: without the user name and password that a redirect may have added. */
export function removeCredentials(address: string): string {
  if (!/^https?:\/\/[^/?#]*@/i.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}
