import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import type { ProviderFile } from "../files/files-api.ts";
import { KeyedFiles, readFileId } from "../files/keyed-files.ts";
import { encodeRelated } from "../files/multipart.ts";
import { ifDefined, readCount, stringIn, unixSecondsAt } from "../json.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import { ERROR_KINDS } from "./errors.ts";

/** The statuses of the gateway by the protocol's states. */
const STATUSES: ReadonlyMap<unknown, string> = new Map([
  ["PROCESSING", "pending"],
  ["FAILED", "failed"],
]);

/**
 * Creates the files of a backend with the content-generation style. The backend deletes them after 48 hours.
 *
 * @param address the address of the protocol's endpoints
 * @param newId creates the boundaries of multipart bodies
 */
export function createFiles(
  address: string,
  headers: (account: UpstreamAccount) => Readonly<Record<string, string>>,
  newId: () => string,
): KeyedFiles {
  const { read } = ERROR_KINDS;
  return new KeyedFiles(
    {
      address: `${address}/files`,
      uploadAddress: `${toUploadAddress(address)}/files`,
      headers,
      uploadHeaders: { "x-goog-upload-protocol": "multipart" },
      contentSuffix: ":download?alt=media",
      kinds: {
        codes: new Map([
          ["API_KEY_INVALID", "token_expired"],
          ["API_KEY_EXPIRED", "token_expired"],
        ]),
        ...ifDefined("read", read),
      },
      encode: ({ filename, mediaType, body }, boundary) =>
        encodeRelated(
          { file: { displayName: filename, mimeType: mediaType } },
          { mediaType, body },
          boundary,
        ),
      readFile,
    },
    newId,
  );
}

/** Uploads have the word `upload` before the version of the address. */
function toUploadAddress(address: string): string {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/v\d[a-z\d]*(?=\/|$)/, "/upload$&");
  return url.href;
}

/** Reads a file. The answer to an upload wraps it in `file`. */
function readFile(answer: JsonObject): ProviderFile {
  const file = isObject(answer["file"]) ? answer["file"] : answer;
  const uri = stringIn(file, "uri");
  return {
    id: readFileId(stringIn(file, "name").replace(/^files\//, "")),
    ...ifDefined("uri", uri || undefined),
    // The protocol writes 64-bit numbers as texts.
    bytes: readCount(Number(file["sizeBytes"])) ?? 0,
    filename: stringIn(file, "displayName"),
    purpose: "",
    status: STATUSES.get(file["state"]) ?? "processed",
    createdAt: unixSecondsAt(file["createTime"]),
    ...ifDefined("expiresAt", unixSecondsAt(file["expirationTime"]) || undefined),
  };
}
