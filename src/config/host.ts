/** A name, or an address of either kind: nothing that a URL has beside it. */
const HOST = /^(?:[^\s\p{Cc}/:@?#[\]\\]+|\[?(?=[\da-f.]*:)[\da-f:.]+\]?)$/iu;

/** What is wrong with a text that should be a host by itself; null: nothing. */
export function hostFault(text: string): string | null {
  return HOST.test(text)
    ? null
    : "must be the name or the address of a host, without scheme, port, path and user";
}
