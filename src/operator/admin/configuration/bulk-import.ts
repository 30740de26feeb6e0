import * as z from "zod";
import { keyDigest, removeDuplicateKeys } from "../../../core/config/api-keys.ts";
import { accountSchema } from "../../../core/config/schemas/account-schema.ts";
import { type ApiKey, apiKeySchema } from "../../../core/config/schemas/key-schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { hasIdentity } from "../account-identifiers.ts";
import { assertImportedAuth } from "../accounts/account-auth.ts";
import { successSchema } from "../answers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { rejectForeignOwner } from "../keys/key-entries.ts";
import { mapToPresentDigests } from "../keys/key-rotation.ts";
import { deduplicateConfig } from "./config-merge.ts";

const importedAccount = accountSchema.refine(hasIdentity, {
  error: "an account needs an email, a mobile or a token",
});

/** Body of `POST /admin/import`. Keys are strings, or objects with name and remark. */
const bulkImportSchema = lazyObject(() => ({
  keys: z
    .array(z.union([z.string().trim().min(1, "a key must not be empty"), apiKeySchema], "must be a key"))
    .optional(),
  accounts: z.array(importedAccount).optional(),
  /** This request continues an import in parts. The first part saved the previous configuration. */
  continues: z.boolean().default(false),
})).refine(({ keys, accounts }) => keys !== undefined || accounts !== undefined, {
  error: "send keys, accounts, or both",
});

/** Returns the added keys that match neither a present key nor one of its former secrets. */
async function filterNewKeys(present: readonly ApiKey[], added: readonly ApiKey[]): Promise<ApiKey[]> {
  const presentDigests = await mapToPresentDigests(present);
  const digests = await Promise.all(added.map(keyDigest));
  return added.filter((_, index) => !presentDigests.has(digests[index] ?? ""));
}

export const BULK_IMPORT_ENDPOINTS = [
  /**
   * `POST /admin/import` (docs/contract/admin-configuration.md): adds new keys and accounts and counts them.
   * Existing entries do not change.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/import",
    summary: "Import keys and accounts",
    body: bulkImportSchema,
    answers: jsonResponse(() =>
      successSchema().extend({ imported_keys: z.int(), imported_accounts: z.int() }),
    ),
    handler: async (context, { body }) => {
      assertImportedAuth(body.accounts ?? []);
      const added: ApiKey[] = (body.keys ?? []).map((entry) =>
        typeof entry === "string" ? { key: entry, name: "", remark: "" } : entry,
      );
      for (const [index, entry] of added.entries()) rejectForeignOwner(context, entry, `keys[${index}]`);
      let importedKeys = 0;
      let importedAccounts = 0;
      await editConfig(
        context,
        async (config) => {
          const present = await deduplicateConfig(config);
          const keys = await removeDuplicateKeys([
            ...present.api_keys,
            ...(await filterNewKeys(present.api_keys, added)),
          ]);
          // Present accounts come first, so that they win over equal imported accounts.
          const combined = await deduplicateConfig({
            ...present,
            accounts: [...present.accounts, ...(body.accounts ?? [])],
          });
          importedKeys = keys.length - present.api_keys.length;
          importedAccounts = combined.accounts.length - present.accounts.length;
          return {
            ...present,
            api_keys: keys,
            accounts: [...present.accounts, ...combined.accounts.slice(present.accounts.length)],
          };
        },
        { keep: !body.continues },
      );
      return Response.json({
        success: true,
        imported_keys: importedKeys,
        imported_accounts: importedAccounts,
      });
    },
  }),
] satisfies readonly Endpoint[];
