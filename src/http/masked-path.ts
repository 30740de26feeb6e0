/** A path as it may be shown and logged: keys and account names travel in admin paths. */
export function maskedPath(path: string): string {
  return path.replace(/^(\/admin\/(?:keys|accounts))\/.*/, "$1/…");
}
