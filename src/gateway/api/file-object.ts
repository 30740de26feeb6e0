import * as z from "zod";
import type { FileRecord } from "../../core/ports/files.ts";
import type { ProviderFile } from "../providers/files/files-api.ts";

/**
 * Builds the file object (docs/contract/files.md, File object), in the full shape of the public API.
 *
 * `status` is the provider's value, except `failed`, which becomes `error`: clients that poll a file know that state as
 * `error`.
 */
export function toFileObject(file: ProviderFile, record: FileRecord): Record<string, unknown> {
  return {
    id: file.id,
    object: "file",
    bytes: file.bytes || record.bytes,
    created_at: record.createdAt,
    ...(record.expiresAt === 0 ? {} : { expires_at: Math.floor(record.expiresAt / 1000) }),
    filename: file.filename || record.filename,
    purpose: file.purpose || record.purpose,
    status: file.status === "failed" ? "error" : file.status,
    status_details: file.status === "failed" ? "the provider could not process the file" : null,
    account_id: record.account,
  };
}

/** Builds the file object from the stored record alone, with the last known status. */
export function toListedFileObject(record: FileRecord): Record<string, unknown> {
  return toFileObject({ ...record, status: record.status ?? "uploaded" }, record);
}

/** Schema of the result of {@link toFileObject}. */
export const fileObjectSchema = () =>
  z.object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int().optional(),
    filename: z.string(),
    purpose: z.string(),
    status: z.string(),
    status_details: z.string().nullable(),
    account_id: z.string(),
  });
