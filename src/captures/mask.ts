/** What stands in for a secret. */
export const MASK = "[masked]";

/** A secret shorter than this is not looked for in texts: it would be found in innocent words. */
const MIN_SECRET = 8;

const SECRET_HEADER = /authorization|cookie|token|secret|password|api-?key|signature/i;
const SECRET_PARAMETER = /token|secret|password|key|signature|code/i;
const SECRET_MEMBER =
  /("(?:password|passwd|token|access_token|refresh_token|id_token|api_key|apikey|secret|client_secret)"\s*:\s*")((?:[^"\\]|\\.)*)(")/gi;

/** The secrets that a request carries: credentials in its headers and in members of its JSON body. */
export function secretsOf(headers: Headers, body: string): string[] {
  const found = new Set<string>();
  headers.forEach((value, name) => {
    if (!SECRET_HEADER.test(name)) return;
    found.add(value);
    found.add(value.replace(/^\S+\s+/, ""));
  });
  for (const match of body.matchAll(SECRET_MEMBER)) found.add(match[2] ?? "");
  return [...found].filter((secret) => secret.length >= MIN_SECRET);
}

/** Headers by name, secret ones without their value. */
export function maskHeaders(headers: Headers): Record<string, string> {
  const masked: Record<string, string> = {};
  headers.forEach((value, name) => {
    masked[name] = SECRET_HEADER.test(name) ? MASK : value;
  });
  return masked;
}

/** A text without the known secrets and, if it is JSON, without what its members call a secret. */
export function maskText(text: string, secrets: readonly string[], json: boolean): string {
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, MASK);
  return json ? masked.replace(SECRET_MEMBER, `$1${MASK}$3`) : masked;
}

/** An address without credentials in it. */
export function maskUrl(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  for (const name of [...url.searchParams.keys()]) {
    if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, MASK);
  }
  return url.href;
}
