const MAX_SHOWN = 500;

/** Keys and account names travel in admin paths, and who knows the name of a job may read it; also in those that no route has because of a prefix or a slash too many. */
const NAMED = /^(.*?\/(?:admin\/+(?:keys|accounts)|v1\/+jobs))\/.*/is;
/** A query that became part of the path, because its question mark was escaped. */
const QUERY = /([?&;](?:(?!key|token|secret|password)[\w.-])*(?:key|token|secret|password)[\w.-]*=)[^&;]*/gi;

/** Without any of these nothing above finds anything, nor is there an escape: most paths are as short and as plain. */
const MAY_NAME = /[%?&;]|\/(?:admin|jobs)\//i;

/** ASCII escapes undone, also those of an escape. */
function unescaped(path: string): string {
  let text = path;
  for (let round = 0; round < 2 && text.includes("%"); round += 1) {
    text = text.replace(/%[0-7][\da-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  }
  return text;
}

/** A path as it may be shown and logged: without the names of keys and accounts, and without credentials. Long paths are cut. */
export function maskedPath(path: string): string {
  if (path.length <= MAX_SHOWN && !MAY_NAME.test(path)) return path;
  const plain = unescaped(path);
  const masked = plain.replace(NAMED, "$1/…").replace(QUERY, "$1…");
  // What hides nothing is shown as it came: an escape that is undone could be a line end.
  const shown = masked === plain ? path : masked.replace(/\p{Cc}/gu, " ");
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}
