const MAX_SHOWN = 500;

/**
 * Admin paths contain keys and account names, and a job's name gives access to the job. Also matches paths with an extra
 * prefix or slash, although no route has them.
 */
const NAMED_PATHS = /^(.*?\/(?:admin\/+(?:keys|accounts)|v1\/+jobs))\/.*/is;
/** A query that became part of the path, because its question mark was percent-encoded. */
const QUERY = /([?&;](?:(?!key|token|secret|password)[\w.-])*(?:key|token|secret|password)[\w.-]*=)[^&;]*/gi;

/** A quick check: if this does not match, neither pattern above can match, and the path has no escapes. */
const MAY_NEED_MASKING = /[%?&;]|\/(?:admin|jobs)\//i;

/** Decodes ASCII escapes, also doubly encoded ones. */
function decodeEscapes(path: string): string {
  let text = path;
  for (let round = 0; round < 2 && text.includes("%"); round += 1) {
    text = text.replace(/%[0-7][\da-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  }
  return text;
}

/** Masks a path for logs and error messages: removes names of keys and accounts, and credentials. Cuts long paths. */
export function maskPath(path: string): string {
  if (path.length <= MAX_SHOWN && !MAY_NEED_MASKING.test(path)) return path;
  const plain = decodeEscapes(path);
  const masked = plain.replace(NAMED_PATHS, "$1/…").replace(QUERY, "$1…");
  // If nothing was masked, keeps the original escapes: a decoded one could be a line break.
  const shown = masked === plain ? path : masked.replace(/\p{Cc}/gu, " ");
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}
