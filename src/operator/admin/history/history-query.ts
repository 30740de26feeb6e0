import * as z from "zod";
import { accountIdentifier } from "../../../core/config/account-identifier.ts";
import { keyIdentifier, listApiKeys } from "../../../core/config/api-keys.ts";
import { DEFAULT_PROVIDER } from "../../../core/config/provider-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import type { HistoryFilter } from "../../../core/ports/archive.ts";

const STATUSES = ["streaming", "success", "error", "cancelled"] as const;

/** Several values, separated by commas. */
const commaListSchema = once(() =>
  z
    .string()
    .transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    )
    .optional(),
);

const amountSchema = once(() => z.coerce.number().min(0).optional());

/** Unix milliseconds, or a date and time in ISO 8601. */
const timeSchema = once(() =>
  z
    .string()
    .transform((text, context) => {
      const at = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
      if (Number.isFinite(at)) return at;
      context.addIssue({ code: "custom", message: "must be Unix milliseconds or an ISO 8601 date" });
      return z.NEVER;
    })
    .optional(),
);

/** Query parameters that filter the history. A field with several values (separated by commas) matches any of them. */
export const historyFilterShape = once(() => ({
  /** Text in a summary: model, account, source, status and code (`error 429`), error or preview. */
  q: z.string().trim().default(""),
  from: timeSchema(),
  to: timeSchema(),
  status: commaListSchema().pipe(z.array(z.enum(STATUSES)).optional()),
  code: commaListSchema().pipe(
    z
      .array(
        z
          .string()
          .toLowerCase()
          .transform((code) => code.replaceAll(" ", "_"))
          .pipe(
            z
              .string()
              .regex(
                /^(?:[1-9](?:xx|\d\d)|[a-z][a-z\d_]*)$/,
                "must be such as 429, 4xx or rate_limit_exceeded",
              ),
          ),
      )
      .optional(),
  ),
  /** Names or ids; a part of a name will do, if no name equals it. */
  key: commaListSchema(),
  team: commaListSchema(),
  provider: commaListSchema(),
  model: commaListSchema(),
  account: commaListSchema(),
  dialect: commaListSchema(),
  path: commaListSchema().pipe(z.array(z.enum(["native", "translated"])).optional()),
  source: commaListSchema(),
  min_ms: amountSchema(),
  max_ms: amountSchema(),
  min_tokens: amountSchema(),
  max_tokens: amountSchema(),
}));

const filterSchema = lazyObject(historyFilterShape);

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The default provider is not in the configuration's list. */
const DEFAULT_ENTRY: Named = { id: DEFAULT_PROVIDER, name: DEFAULT_PROVIDER };

/**
 * Returns the ids that a filter's values stand for: the entries with that id or name, or else those whose names contain the
 * value. A value that fits no entry stays: the entry may be deleted.
 */
function findIds(values: readonly string[], entries: readonly Named[]): string[] {
  return values.flatMap((value) => {
    const text = value.toLowerCase();
    const equal = entries.filter(({ id, name }) => id === value || name.toLowerCase() === text);
    const found = equal.length > 0 ? equal : entries.filter(({ name }) => name.toLowerCase().includes(text));
    return found.length > 0 ? found.map(({ id }) => id) : [value];
  });
}

/** Converts the query to a filter, without its text `q`. Names stand for the entries that have them now. */
export async function toHistoryFilter(
  query: z.output<typeof filterSchema>,
  config: Config,
): Promise<HistoryFilter> {
  const { min_ms: minMs, max_ms: maxMs, min_tokens: minTokens, max_tokens: maxTokens, ...equal } = query;
  const { from, to, status, code, key, team, provider, model, account, dialect, path, source } = equal;
  const listKeys = () =>
    Promise.all(
      listApiKeys(config).map(async (entry) => ({ id: await keyIdentifier(entry), name: entry.name })),
    );
  const listAccounts = () =>
    Promise.all(
      config.accounts.map(async (entry) => ({ id: await accountIdentifier(entry), name: entry.name })),
    );
  return {
    from,
    to,
    status,
    code,
    model,
    dialect,
    path,
    source,
    minMs,
    maxMs,
    minTokens,
    maxTokens,
    key: key && findIds(key, await listKeys()),
    team: team && findIds(team, config.teams),
    provider: provider && findIds(provider, [DEFAULT_ENTRY, ...config.providers]),
    account: account && findIds(account, await listAccounts()),
  };
}
