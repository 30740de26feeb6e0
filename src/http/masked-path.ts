const MAX_SHOWN = 500;

/**
 * A path as it may be shown and logged: keys and account names travel in admin paths, also in those that no route has
 * because of their case or a slash too many. Long paths are cut.
 */
export function maskedPath(path: string): string {
  const masked = path.replace(/^(\/+admin\/+(?:keys|accounts))\/.*/i, "$1/…");
  return masked.length > MAX_SHOWN ? `${masked.slice(0, MAX_SHOWN)}…` : masked;
}
