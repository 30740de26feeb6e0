/** A host name, or an IPv4 or IPv6 address, without any other part of a URL. */
const HOST = /^(?:[^\s\p{Cc}/:@?#[\]\\]+|\[?(?=[\da-f.]*:)[\da-f:.]+\]?)$/iu;

/** Why a text is not a bare host; null if it is one. */
export function describeHostFault(text: string): string | null {
  return HOST.test(text)
    ? null
    : "must be the name or the address of a host, without scheme, port, path and user";
}
