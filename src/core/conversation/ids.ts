/** `prefix` and 24 random hexadecimal characters: the id format that SDKs expect. */
export function randomId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll("-", "").slice(0, 24);
}
