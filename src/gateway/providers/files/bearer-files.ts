import type { JsonObject } from "../../../core/encoding/json.ts";
import { ifDefined, readCount, stringIn, unixSecondsOf } from "../json.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import type { FileUpload, ProviderFile } from "./files-api.ts";
import { KeyedFiles, readFileId } from "./keyed-files.ts";
import { encodeMultipart } from "./multipart.ts";

/** The purpose of a file whose caller states none. The protocol requires one. */
const DEFAULT_PURPOSE = "user_data";

/**
 * Creates the files of chat-completions and responses backends, which have the same paths.
 *
 * @param address the base address of the backend
 * @param newId creates the boundaries of multipart bodies
 */
export function createBearerFiles(
  address: string,
  headers: (account: UpstreamAccount) => Readonly<Record<string, string>>,
  newId: () => string,
): KeyedFiles {
  return new KeyedFiles(
    {
      address: `${address}/files`,
      headers,
      contentSuffix: "/content",
      kinds: {},
      encode: ({ filename, mediaType, body, ...upload }, boundary) =>
        encodeMultipart(
          { fields: {}, fieldsAfter: () => formFields(upload), filename, mediaType, body },
          boundary,
        ),
      readFile,
    },
    newId,
  );
}

function formFields({ purpose, lifetime }: Pick<FileUpload, "purpose" | "lifetime">): Record<string, string> {
  const stated = typeof purpose === "string" ? purpose : purpose();
  const seconds = lifetime?.() ?? null;
  return {
    purpose: stated || DEFAULT_PURPOSE,
    ...(seconds === null
      ? {}
      : { "expires_after[anchor]": "created_at", "expires_after[seconds]": String(seconds) }),
  };
}

function readFile(record: JsonObject): ProviderFile {
  const status = stringIn(record, "status");
  return {
    id: readFileId(record["id"]),
    bytes: readCount(record["bytes"]) ?? 0,
    filename: stringIn(record, "filename"),
    purpose: stringIn(record, "purpose"),
    // The protocol declares the status obsolete, and not every backend states it.
    status: status === "" ? "processed" : status === "error" ? "failed" : status,
    createdAt: unixSecondsOf(record["created_at"]),
    ...ifDefined("expiresAt", unixSecondsOf(record["expires_at"]) || undefined),
  };
}
