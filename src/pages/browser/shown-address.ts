/** A page's address as others are told it: without the user name and password that a redirect to it may have had. */
export function shownAddress(address: string): string {
  if (!/^https?:\/\/[^/?#]*@/i.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}
