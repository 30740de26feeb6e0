import * as z from "zod";
import { isPreview, preview } from "../auth/secrets.ts";
import { type Account, type ApiKey, accountSchema, apiKeySchema, type Config } from "../config/schema.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { aliasesSchema } from "./aliases.ts";
import { configViewSchema } from "./config-answers.ts";
import { configView, keyId } from "./config-view.ts";
import { allKeys, edit, sameAccount } from "./edit.ts";
import { hasIdentity, identifiers } from "./identifiers.ts";

/**
 * `POST /admin/config` (contract). Each list that is given replaces the present one; other groups are not changed here.
 * What came from the masked view may be sent back: a masked key (by its `id`) stands for the real one, and an account
 * without password or token keeps the ones that it has.
 */
const configUpdateSchema = z
  .object({
    keys: z.array(z.string()).optional(),
    api_keys: z.array(apiKeySchema.extend({ id: z.string().optional() })).optional(),
    accounts: z.array(accountSchema.extend({ identifier: z.string().optional() })).optional(),
    model_aliases: aliasesSchema.optional(),
  })
  .refine((body) => Object.values(body).some((group) => group !== undefined), {
    error: "send at least one of keys, api_keys, accounts and model_aliases",
  });

type Update = z.output<typeof configUpdateSchema>;

/** A key that may be masked, as itself. Throws 400 for a mask that stands for no key, or for several. */
async function unmasked(present: readonly ApiKey[], key: string, id: string | undefined, param: string) {
  if (present.some((apiKey) => apiKey.key === key) || !isPreview(key)) return key;
  const meant: string[] = [];
  for (const apiKey of present) {
    const same = id === undefined ? preview(apiKey.key) === key : (await keyId(apiKey.key)) === id;
    if (same) meant.push(apiKey.key);
  }
  if (meant.length === 1 && meant[0] !== undefined) return meant[0];
  throw invalidRequest(`${param}: a masked key must stand for one key that is there; send its id`, param);
}

async function updatedKeys(config: Config, { keys, api_keys }: Update): Promise<ApiKey[]> {
  const present = allKeys(config);
  const listed: ApiKey[] = [];
  if (api_keys !== undefined) {
    for (const [index, { key, id, name, remark }] of api_keys.entries()) {
      listed.push({ key: await unmasked(present, key, id, `api_keys[${index}].key`), name, remark });
    }
  } else if (keys !== undefined) {
    for (const [index, entry] of keys.entries()) {
      const key = await unmasked(present, entry.trim(), undefined, `keys[${index}]`);
      listed.push(present.find((apiKey) => apiKey.key === key) ?? { key, name: "", remark: "" });
    }
  } else {
    return present;
  }
  return allKeys({ keys: [], api_keys: listed.filter(({ key }) => key !== "") });
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
    handler: async (context) =>
      Response.json(await configView(context, await context.platform.configuration.readFresh())),
  }),
  /** `POST /admin/config` (contract). */
  forAdministrators({
    method: "POST",
    path: "/admin/config",
    summary: "Update keys, accounts and aliases",
    body: configUpdateSchema,
    answers: json(configViewSchema),
    handler: async (context, { body: update }) => {
      const snapshot = await edit(context, async (config) => ({
        ...config,
        keys: [],
        api_keys: await updatedKeys(config, update),
        accounts: await updatedAccounts(config, update),
        model_aliases: update.model_aliases ?? config.model_aliases,
      }));
      return Response.json(await configView(context, snapshot));
    },
  }),
];
