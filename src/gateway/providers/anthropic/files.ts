import type { JsonObject } from "../../../core/encoding/json.ts";
import type { ProviderFile } from "../files/files-api.ts";
import { KeyedFiles, readFileId } from "../files/keyed-files.ts";
import { encodeMultipart } from "../files/multipart.ts";
import { ifDefined, readCount, stringIn, unixSecondsAt } from "../json.ts";
import { isText } from "../requests/attachments.ts";
import type { UpstreamAccount } from "../upstream-account.ts";

/**
 * Creates the files of a backend with the message style.
 *
 * @param address the address of the protocol's endpoints
 * @param headers the headers of every request, with the beta that has files
 * @param newId creates the boundaries of multipart bodies
 */
export function createFiles(
  address: string,
  headers: (account: UpstreamAccount) => Readonly<Record<string, string>>,
  newId: () => string,
): KeyedFiles {
  return new KeyedFiles(
    {
      address: `${address}/files`,
      headers,
      contentSuffix: "/content",
      kinds: { codes: new Map([["authentication_error", "token_expired"]]) },
      encode: ({ filename, mediaType, body, lifetime }, boundary) => {
        const fieldsAfter = () => {
          const seconds = lifetime?.() ?? null;
          return seconds === null ? {} : { expires_in_seconds: String(seconds) };
        };
        // Messages accept documents of no other text type.
        const type = isText(mediaType, filename) ? "text/plain" : mediaType;
        return encodeMultipart({ fields: {}, fieldsAfter, filename, mediaType: type, body }, boundary);
      },
      readFile,
    },
    newId,
  );
}

function readFile(record: JsonObject): ProviderFile {
  return {
    id: readFileId(record["id"]),
    bytes: readCount(record["size_bytes"]) ?? 0,
    filename: stringIn(record, "filename"),
    purpose: "",
    status: "processed",
    createdAt: unixSecondsAt(record["created_at"]),
    ...ifDefined("expiresAt", unixSecondsAt(record["expires_at"]) || undefined),
  };
}
