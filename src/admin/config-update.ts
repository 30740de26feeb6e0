import * as z from "zod";
import { allKeys, distinctKeys } from "../config/api-keys.ts";
import {
  type Account,
  type ApiKey,
  accountSchema,
  apiKeyFields,
  type Config,
  configSchema,
  openObject,
} from "../config/schema.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { providerField } from "./account-edit.ts";
import { aliasesSchema } from "./aliases.ts";
import { accountViewSchema } from "./answers.ts";
import { configViewSchema } from "./config-answers.ts";
import { configView } from "./config-view.ts";
import { edit, sameAccount } from "./edit.ts";
import { etagOf } from "./etag.ts";
import { hasIdentity, identifiers } from "./identifiers.ts";
import { changedKey, keptKey, meantKey, refuseUnknownFields } from "./key-entries.ts";
import { sentObject } from "./sent-fields.ts";

/** Omitted fields of an existing key keep their values. */
const sentKeySchema = openObject(() => ({
  ...apiKeyFields.shape,
  name: z.string().optional(),
  remark: z.string().optional(),
}));

/**
 * Body of `POST /admin/config` (contract). Each sent list replaces the present list; other groups do not change here.
 * Clients may send back entries of the masked view: a masked key (by its `id`) means the real key, and an account without
 * password or token keeps its own.
 */
const configUpdateSchema = sentObject(
  () => ({
    keys: z.array(z.string()).optional(),
    api_keys: z.array(sentKeySchema).optional(),
    accounts: z
      .array(
        sentObject(
          () => ({ ...accountSchema.shape, identifier: z.string().optional() }),
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

type Update = z.output<typeof configUpdateSchema>;

async function updatedKeys(config: Config, { keys, api_keys }: Update): Promise<ApiKey[]> {
  const present = allKeys(config);
  const listed: ApiKey[] = [];
  if (api_keys !== undefined) {
    for (const [index, sent] of api_keys.entries()) {
      const known = await meantKey(present, sent, `api_keys[${index}].key`);
      refuseUnknownFields(sent, known, `api_keys[${index}]`);
      const { name = "", remark = "" } = sent;
      listed.push(known === undefined ? keptKey({ ...sent, name, remark }) : changedKey(known, sent));
    }
  } else if (keys !== undefined) {
    for (const [index, entry] of keys.entries()) {
      const key = entry.trim();
      if (key === "") continue;
      const known = await meantKey(present, { key }, `keys[${index}]`);
      listed.push(known ?? { key, name: "", remark: "" });
    }
  } else {
    return present;
  }
  return distinctKeys(listed);
}

async function updatedAccounts(config: Config, { accounts }: Update): Promise<Account[]> {
  if (accounts === undefined) return config.accounts;
  const byIdentifier = new Map((await identifiers(config)).map((id, index) => [id, config.accounts[index]]));
  const updated: Account[] = [];
  const taken = new Set<string>();
  for (const [index, { identifier, ...account }] of accounts.entries()) {
    const named = identifier ?? (account.email || account.mobile);
    const present =
      byIdentifier.get(named) ?? config.accounts.find((candidate) => sameAccount(candidate, account));
    const complete = {
      ...account,
      ...providerField(account.provider),
      password: account.password || (present?.password ?? ""),
      token: account.token || (present?.token ?? ""),
    };
    const [id = ""] = await identifiers({ accounts: [complete] });
    if (!hasIdentity(complete)) {
      throw invalidRequest(
        `accounts[${index}]: an account needs an email, a mobile or a token`,
        `accounts[${index}]`,
      );
    }
    if (taken.has(id.toLowerCase())) {
      throw invalidRequest(`accounts[${index}]: this account is listed twice`, `accounts[${index}]`);
    }
    taken.add(id.toLowerCase());
    updated.push(complete);
  }
  return updated;
}

export const CONFIG_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/config` (contract). */
  forAdministrators({
    method: "GET",
    path: "/admin/config",
    summary: "Masked configuration",
    answers: json(configViewSchema),
    handler: async (context) => {
      const snapshot = await context.platform.configuration.readFresh();
      return Response.json(await configView(context, snapshot), {
        headers: { etag: etagOf(snapshot.version) },
      });
    },
  }),
  /** `POST /admin/config` (contract). */
  forAdministrators({
    method: "POST",
    path: "/admin/config",
    summary: "Update keys, accounts and aliases",
    body: configUpdateSchema,
    answers: json(configViewSchema),
    handler: async (context, { body: update }) => {
      const snapshot = await edit(
        context,
        async (config) => ({
          ...config,
          keys: [],
          api_keys: await updatedKeys(config, update),
          accounts: await updatedAccounts(config, update),
          model_aliases: update.model_aliases ?? config.model_aliases,
        }),
        { keep: true },
      );
      return Response.json(await configView(context, snapshot), {
        headers: { etag: etagOf(snapshot.version) },
      });
    },
  }),
];
