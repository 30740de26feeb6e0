import * as z from "zod";
import type { FileRecord } from "../../core/ports/files.ts";
import type { ProviderFile } from "../providers/provider.ts";

/**
 * Builds the file object (contract, File object), in the full shape of the public API.
 *
 * `status` is the provider's value, except `failed`, which becomes `error`: clients that poll a file know that state as
 * `error`.
 */
export function toFileObject(file: ProviderFile, kept: FileRecord): Record<string, unknown> {
  return {
    id: file.id,
    object: "file",
    bytes: file.bytes || kept.bytes,
    created_at: kept.createdAt,
    ...(kept.expiresAt === 0 ? {} : { expires_at: Math.floor(kept.expiresAt / 1000) }),
    filename: file.filename || kept.filename,
    purpose: file.purpose || kept.purpose,
    status: file.status === "failed" ? "error" : file.status,
    status_details: file.status === "failed" ? "the provider could not process the file" : null,
    account_id: kept.account,
  };
}

/** Builds the file object from the stored record alone, with the last known status. */
export function toListedFileObject(kept: FileRecord): Record<string, unknown> {
  return toFileObject({ ...kept, status: kept.status ?? "uploaded" }, kept);
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
