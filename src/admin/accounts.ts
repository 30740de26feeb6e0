import * as z from "zod";
import { type Account, accountSchema, type Config } from "../config/schema.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { readBody } from "../http/json-body.ts";
import type { Context, Handler } from "../platform/context.ts";
import { accountViews } from "./config-view.ts";
import { duplicate, edit, sameAccount } from "./edit.ts";
import { accountIndex, identifiers } from "./identifiers.ts";

const MAX_PAGE_SIZE = 5_000;

/** A whole number of the query, pulled into its range; the default for anything else. */
const queryNumber = (fallback: number, max: number) =>
  z.coerce
    .number()
    .catch(fallback)
    .default(fallback)
    .transform((value) => Math.min(Math.max(Math.floor(value), 1), max));

/** Query of `GET /admin/accounts` (contract). */
export const accountListSchema = z.object({
  page: queryNumber(1, Number.MAX_SAFE_INTEGER),
  page_size: queryNumber(10, MAX_PAGE_SIZE),
  q: z.string().default(""),
});

/** `POST /admin/accounts`: an account that signs in, or one that has only a token. */
export const newAccountSchema = accountSchema
  .refine(({ email, mobile, token }) => email !== "" || mobile !== "" || token !== "", {
    error: "an account needs an email or a mobile, or a token",
    path: ["email"],
  })
  .refine(({ password, token }) => password !== "" || token !== "", {
    error: "a password is needed, unless there is a token",
    path: ["password"],
  });

/**
 * `PUT /admin/accounts/{identifier}`. What is left out stays. E-mail and mobile are read-only; a new password or token may
 * be given, empty ones change nothing.
 */
export const accountChangeSchema = z.object({
  name: z.string().optional(),
  remark: z.string().optional(),
  password: z.string().optional(),
  token: z.string().trim().optional(),
  email: z.string().optional(),
  mobile: z.string().optional(),
});

/** `PUT /admin/accounts/{identifier}/proxy`. */
export const proxyBindingSchema = z.object({
  proxy_id: z.string("the id of a proxy is needed; an empty one unbinds").trim(),
});

const done = (config: Config) => Response.json({ success: true, total_accounts: config.accounts.length });

const identifierOf = (context: Context): string => context.params["identifier"] ?? "";

/** Places of the accounts whose identifier, e-mail or mobile contains `query`. */
async function matching(config: Config, query: string): Promise<number[]> {
  const needle = query.trim().toLowerCase();
  const ids = await identifiers(config);
  const places: number[] = [];
  for (const [index, { email, mobile }] of config.accounts.entries()) {
    const texts = [ids[index] ?? "", email, mobile];
    if (texts.some((text) => text.toLowerCase().includes(needle))) places.push(index);
  }
  return places;
}

/** `GET /admin/accounts` (contract). */
export const listAccounts: Handler = async (context) => {
  const query = accountListSchema.parse(Object.fromEntries(context.url.searchParams));
  const { config } = await context.platform.configuration.readFresh();
  const places = await matching(config, query.q);
  const start = (query.page - 1) * query.page_size;
  return Response.json({
    items: await accountViews(context, config, places.slice(start, start + query.page_size)),
    total: places.length,
    page: query.page,
    page_size: query.page_size,
    total_pages: Math.ceil(places.length / query.page_size),
  });
};

function checkProxy(config: Config, proxyId: string): void {
  if (proxyId !== "" && !config.proxies.some(({ id }) => id === proxyId)) {
    throw invalidRequest(`proxy_id: the proxy ${JSON.stringify(proxyId)} does not exist`, "proxy_id");
  }
}

/** `POST /admin/accounts` (contract). */
export const addAccount: Handler = async (context) => {
  const added: Account = await readBody(context.request, newAccountSchema);
  const { config } = await edit(context, (current) => {
    checkProxy(current, added.proxy_id);
    if (current.accounts.some((account) => sameAccount(account, added))) throw duplicate("the account");
    return { ...current, accounts: [...current.accounts, added] };
  });
  return done(config);
};

/** Changes one account of the configuration. */
async function editAccount(
  context: Context,
  change: (account: Account, config: Config) => Account,
): Promise<Config> {
  const { config } = await edit(context, async (current) => {
    const index = await accountIndex(current, identifierOf(context));
    const accounts = current.accounts.map((account, place) =>
      place === index ? change(account, current) : account,
    );
    return { ...current, accounts };
  });
  return config;
}

/** `PUT /admin/accounts/{identifier}` (contract). */
export const changeAccount: Handler = async (context) => {
  const body = await readBody(context.request, accountChangeSchema);
  const config = await editAccount(context, (account) => {
    for (const field of ["email", "mobile"] as const) {
      if (body[field] !== undefined && body[field] !== account[field]) {
        throw invalidRequest(`${field}: an account's ${field} cannot be changed`, field);
      }
    }
    const tokenOnly = account.email === "" && account.mobile === "";
    if (tokenOnly && body.token) {
      throw invalidRequest("token: this account is named by its token; add a new account instead", "token");
    }
    return {
      ...account,
      name: body.name ?? account.name,
      remark: body.remark ?? account.remark,
      password: body.password || account.password,
      token: body.token || account.token,
    };
  });
  return done(config);
};

/** `DELETE /admin/accounts/{identifier}` (contract). */
export const deleteAccount: Handler = async (context) => {
  const { config } = await edit(context, async (current) => {
    const index = await accountIndex(current, identifierOf(context));
    return { ...current, accounts: current.accounts.filter((_, place) => place !== index) };
  });
  return done(config);
};

/** `PUT /admin/accounts/{identifier}/proxy` (contract). */
export const bindProxy: Handler = async (context) => {
  const { proxy_id } = await readBody(context.request, proxyBindingSchema);
  await editAccount(context, (account, config) => {
    checkProxy(config, proxy_id);
    return { ...account, proxy_id };
  });
  return Response.json({ success: true, identifier: identifierOf(context), proxy_id });
};
