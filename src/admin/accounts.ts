import * as z from "zod";
import { accountSchema, type Config } from "../config/schema.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { accountsChanged, accountsChangedSchema, checkProxy } from "./account-edit.ts";
import { accountViewSchema } from "./answers.ts";
import { accountViews } from "./config-view.ts";
import { edit, sameAccount } from "./edit.ts";
import { hasIdentity, identifiers } from "./identifiers.ts";
import { pageSchema, queryNumber } from "./paging.ts";
import { duplicate } from "./refusals.ts";

const MAX_PAGE_SIZE = 5_000;

/** Query of `GET /admin/accounts` (contract). */
const accountListSchema = z.object({
  page: queryNumber(1, Number.MAX_SAFE_INTEGER),
  page_size: queryNumber(10, MAX_PAGE_SIZE),
  q: z.string().default(""),
});

/** `POST /admin/accounts`: an account that signs in, or one that has only a token. */
const newAccountSchema = accountSchema
  .refine(hasIdentity, {
    error: "an account needs an email or a mobile, or a token",
    path: ["email"],
  })
  .refine(({ password, token }) => password !== "" || token !== "", {
    error: "a password is needed, unless there is a token",
    path: ["password"],
  });

/** Places of the accounts whose identifier, e-mail, mobile, name or remark contains `query`. */
async function matching(config: Config, query: string): Promise<number[]> {
  const needle = query.trim().toLowerCase();
  const ids = await identifiers(config);
  const places: number[] = [];
  for (const [index, { email, mobile, name, remark }] of config.accounts.entries()) {
    const texts = [ids[index] ?? "", email, mobile, name, remark];
    if (texts.some((text) => text.toLowerCase().includes(needle))) places.push(index);
  }
  return places;
}

/** The list of accounts, and what adds to it. */
export const ACCOUNT_LIST_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/accounts` (contract). */
  forAdministrators({
    method: "GET",
    path: "/admin/accounts",
    summary: "List the accounts",
    query: accountListSchema,
    answers: json(() => pageSchema(accountViewSchema())),
    handler: async (context, { query: { page, page_size, q } }) => {
      const { config } = await context.platform.configuration.readFresh();
      const places = await matching(config, q);
      const start = (page - 1) * page_size;
      return Response.json({
        items: await accountViews(context, config, places.slice(start, start + page_size)),
        total: places.length,
        page,
        page_size,
        total_pages: Math.ceil(places.length / page_size),
      });
    },
  }),
  /** `POST /admin/accounts` (contract). */
  forAdministrators({
    method: "POST",
    path: "/admin/accounts",
    summary: "Add an account",
    body: newAccountSchema,
    answers: json(accountsChangedSchema),
    handler: async (context, { body: added }) => {
      const { config } = await edit(context, (current) => {
        checkProxy(current, added.proxy_id);
        if (current.accounts.some((account) => sameAccount(account, added))) throw duplicate("the account");
        return { ...current, accounts: [...current.accounts, added] };
      });
      return accountsChanged(config);
    },
  }),
];
