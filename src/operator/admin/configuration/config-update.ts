import * as z from "zod";
import { listApiKeys, removeDuplicateKeys } from "../../../core/config/api-keys.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import { type Account, accountSchema } from "../../../core/config/schemas/account-schema.ts";
import { type ApiKey, apiKeyFields } from "../../../core/config/schemas/key-schema.ts";
import { extensibleObject } from "../../../core/config/schemas/shared-fields.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { accountIdentifiers, hasIdentity, isSameAccount } from "../account-identifiers.ts";
import { authRequestSchema, withAuth } from "../accounts/account-auth.ts";
import { normalizedProvider } from "../accounts/account-edit.ts";
import { accountViewSchema } from "../accounts/account-view.ts";
import { editConfig } from "../editing/config-edit.ts";
import { formatEtag } from "../etag.ts";
import {
  applyKeyChanges,
  findSentKey,
  normalizeKey,
  rejectForeignOwner,
  rejectUnknownKeyFields,
} from "../keys/key-entries.ts";
import { aliasesSchema } from "../models/aliases.ts";
import { requestObject } from "../request-fields.ts";
import { configViewSchema } from "./config-answers.ts";
import { configView } from "./config-view.ts";

/** Omitted fields of an existing key keep their values. */
const keyRequestSchema = extensibleObject(() => ({
  ...apiKeyFields.shape,
  name: z.string().optional(),
  remark: z.string().optional(),
}));

/**
 * Body of `POST /admin/config` (docs/contract/admin-configuration.md). Each sent list replaces the present list; other
 * groups do not change here. Clients may send back entries of the masked view: a masked key (by its `id`) means the
 * real key, and an account without password or token keeps its own.
 */
const configUpdateSchema = requestObject(
  () => ({
    keys: z.array(z.string()).optional(),
    api_keys: z.array(keyRequestSchema).optional(),
    accounts: z
      .array(
        requestObject(
          () => ({
            ...accountSchema.shape,
            auth: authRequestSchema().optional(),
            identifier: z.string().optional(),
          }),
          () => accountViewSchema(),
        ),
      )
      .optional(),
    model_aliases: aliasesSchema().optional(),
  }),
  // Clients may send a whole configuration, also one that was exported by an older version. Its other groups are ignored.
  () => configSchema.extend({ ...configViewSchema().shape, compat: z.unknown(), toolcall: z.unknown() }),
).refine(
  ({ keys, api_keys, accounts, model_aliases }) =>
    [keys, api_keys, accounts, model_aliases].some((group) => group !== undefined),
  { error: "send at least one of keys, api_keys, accounts and model_aliases" },
);

type ConfigUpdate = z.output<typeof configUpdateSchema>;

async function updateKeys(
  context: Context,
  config: Config,
  { keys, api_keys }: ConfigUpdate,
): Promise<ApiKey[]> {
  const present = listApiKeys(config);
  const listed: ApiKey[] = [];
  if (api_keys !== undefined) {
    for (const [index, sent] of api_keys.entries()) {
      const stored = await findSentKey(present, sent, `api_keys[${index}].key`);
      rejectUnknownKeyFields(sent, stored, `api_keys[${index}]`);
      if (stored === undefined) rejectForeignOwner(context, sent, `api_keys[${index}]`);
      const { name = "", remark = "" } = sent;
      listed.push(
        stored === undefined ? normalizeKey({ ...sent, name, remark }) : applyKeyChanges(stored, sent),
      );
    }
  } else if (keys !== undefined) {
    for (const [index, entry] of keys.entries()) {
      const key = entry.trim();
      if (key === "") continue;
      const stored = await findSentKey(present, { key }, `keys[${index}]`);
      listed.push(stored ?? { key, name: "", remark: "" });
    }
  } else {
    return present;
  }
  return removeDuplicateKeys(listed);
}

async function updateAccounts(config: Config, { accounts }: ConfigUpdate): Promise<Account[]> {
  if (accounts === undefined) return config.accounts;
  const byIdentifier = new Map(
    (await accountIdentifiers(config)).map((id, index) => [id, config.accounts[index]]),
  );
  const updated: Account[] = [];
  const listedIds = new Set<string>();
  for (const [index, { identifier, ...account }] of accounts.entries()) {
    const name = identifier ?? (account.email || account.mobile);
    const stored =
      byIdentifier.get(name) ?? config.accounts.find((candidate) => isSameAccount(candidate, account));
    const merged = {
      ...account,
      ...normalizedProvider(account.provider),
      password: account.password || (stored?.password ?? ""),
      token: account.token || (stored?.token ?? ""),
    };
    const complete = withAuth(merged, account.auth, stored);
    const [id = ""] = await accountIdentifiers({ accounts: [complete] });
    if (!hasIdentity(complete)) {
      throw invalidRequest(
        `accounts[${index}]: an account needs an email, a mobile or a token`,
        `accounts[${index}]`,
      );
    }
    if (listedIds.has(id.toLowerCase())) {
      throw invalidRequest(`accounts[${index}]: this account is listed twice`, `accounts[${index}]`);
    }
    listedIds.add(id.toLowerCase());
    updated.push(complete);
  }
  return updated;
}

export const CONFIG_ENDPOINTS = [
  /** `GET /admin/config` (docs/contract/admin-configuration.md). */
  adminEndpoint({
    method: "GET",
    path: "/admin/config",
    summary: "Masked configuration",
    answers: jsonResponse(configViewSchema),
    handler: async (context) => {
      const snapshot = await context.platform.configuration.readFresh();
      return Response.json(await configView(context, snapshot), {
        headers: { etag: formatEtag(snapshot.version) },
      });
    },
  }),
  /** `POST /admin/config` (docs/contract/admin-configuration.md). */
  adminEndpoint({
    method: "POST",
    path: "/admin/config",
    summary: "Update keys, accounts and aliases",
    body: configUpdateSchema,
    answers: jsonResponse(configViewSchema),
    handler: async (context, { body: update }) => {
      const snapshot = await editConfig(
        context,
        async (config) => ({
          ...config,
          keys: [],
          api_keys: await updateKeys(context, config, update),
          accounts: await updateAccounts(config, update),
          model_aliases: update.model_aliases ?? config.model_aliases,
        }),
        { keep: true },
      );
      return Response.json(await configView(context, snapshot), {
        headers: { etag: formatEtag(snapshot.version) },
      });
    },
  }),
] satisfies readonly Endpoint[];
