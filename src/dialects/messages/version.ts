import { DEFAULT_MESSAGE_VERSION, MESSAGE_VERSION_HEADERS } from "../../http/vendor-names.ts";

/** The message-style version of a request: as it says, else the default (contract, Versioning 2). */
export function messageVersion(request: Request): string {
  for (const name of MESSAGE_VERSION_HEADERS) {
    const version = request.headers.get(name)?.trim();
    if (version !== undefined && version !== "") return version;
  }
  return DEFAULT_MESSAGE_VERSION;
}
