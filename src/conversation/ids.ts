/** `prefix` and 24 random characters: the form of the ids that SDKs expect. */
export function randomId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll("-", "").slice(0, 24);
}
