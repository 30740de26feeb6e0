import { DEFAULT_VERSION, VERSION_HEADERS } from "./names.ts";

/** Returns the message-style version that a request names, or the default version (docs/contract.md, Versioning, rule 2). */
export function getMessageVersion(request: Request): string {
  for (const name of VERSION_HEADERS) {
    const version = request.headers.get(name)?.trim();
    if (version !== undefined && version !== "") return version;
  }
  return DEFAULT_VERSION;
}
