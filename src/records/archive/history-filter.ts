import { DEFAULT_PROVIDER } from "../../core/config/provider-id.ts";
import type { HistoryFilter } from "../../core/ports/archive.ts";
import type { SqlValue } from "../../core/storage/sql.ts";
import { MINUTE_MS } from "../../core/units.ts";

/** A record that is still `streaming` after this time without an update has lost its isolate. */
export const LOST_AFTER_MS = 15 * MINUTE_MS;

/** The index covers exactly this expression; it would not cover `->>`. */
const summaryField = (name: string) => `json_extract(summary, '$.${name}')`;

/** The fields that filters use. One index covers all, so that SQLite reads no summary of a record that does not match. */
const FILTER_FIELDS = [
  "status",
  "status_code",
  "key",
  "model",
  "requested_model",
  "account",
  "dialect",
  "source",
  "elapsed_ms",
  "prompt_tokens",
  "completion_tokens",
  "tried",
  "error_code",
  "team",
  "provider",
  "path",
].map(summaryField);

/** Name of the index over the filter fields. */
export const FILTER_INDEX = "record_fields";
/** The index of older versions, over fewer fields. */
export const OLD_FILTER_INDEX = "record_facts";

/** Creates the index if it does not exist. For a large archive it takes a while. */
export const CREATE_FILTER_INDEX = `create index if not exists ${FILTER_INDEX} on record(created, seq, updated, ${FILTER_FIELDS.join()})`;

/**
 * Whether a summary contains a text that users see: in its texts and lists, or in the status with its code ("error 429").
 * People read codes with spaces (`rate limit exceeded`), so underscores count as spaces. Not `like`: Durable Objects refuse
 * patterns of more than 50 bytes. The second line is a cheap pre-check: the text must be somewhere in the JSON.
 */
const HAS_TEXT = `(instr(lower(${summaryField("status")} || ' ' || (${summaryField("status_code")})), ${foldText("?")}) > 0
  or instr(${foldText("summary")}, ${foldText("?")}) > 0 and exists(select 1 from json_each(summary)
    where (type = 'text' or key in ('tried', 'upstream_attempts', 'tags', 'called_functions')) and instr(${foldText("value")}, ${foldText("?")}) > 0))`;

/** The SQL of a text as it is compared. */
function foldText(text: string): string {
  return `replace(lower(${text}), '_', ' ')`;
}

/** Records name the default provider only if others were possible. Refused requests have neither a provider nor a model. */
const OF_ONLY_PROVIDER = `${summaryField("provider")} = '' and ${summaryField("model")} <> ''`;

/** A list of any length as one bound value: Durable Objects allow a hundred values. */
const BOUND_LIST = "(select value from json_each(?))";

/** A condition on records, with its bound values. */
export interface Condition {
  /** The `where` clause of a query, or empty. It uses `created`, `updated` and `summary`. */
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** Whether there are conditions besides the text search. */
  readonly isNarrowed: boolean;
}

/**
 * Converts a filter and a search text (empty: none) to SQL.
 *
 * @param now Unix milliseconds: records that have streamed for too long count as failed
 */
export function buildCondition(filter: HistoryFilter, q: string, now: number): Condition {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...boundValues: readonly SqlValue[]) => {
    conditions.push(condition);
    values.push(...boundValues);
  };
  /** `part` creates a condition from the set of choices. */
  const addChoice = (
    choices: readonly SqlValue[] = [],
    createCondition: (set: string) => string,
    times = 1,
  ) => {
    if (choices.length === 0) return;
    add(createCondition(BOUND_LIST), ...Array.from({ length: times }, () => JSON.stringify(choices)));
  };
  const addBound = (value: number | undefined, condition: string) => {
    if (value !== undefined) add(condition, value);
  };
  addBound(filter.from, "created >= ?");
  addBound(filter.to, "created < ?");
  if (filter.status !== undefined && filter.status.length > 0) {
    const status = summaryField("status");
    const lostBefore = now - LOST_AFTER_MS;
    const effectiveStatus = `case when ${status} = 'streaming' and updated <= ? then 'error' else ${status} end`;
    add(`${effectiveStatus} in ${BOUND_LIST}`, lostBefore, JSON.stringify(filter.status));
  }
  if (filter.code !== undefined && filter.code.length > 0) {
    const code = summaryField("status_code");
    const classes = filter.code.filter((entry) => entry.endsWith("xx")).map((entry) => Number(entry[0]));
    const codes = filter.code.filter((entry) => /^\d+$/.test(entry)).map(Number);
    const lists = [JSON.stringify(classes), JSON.stringify(codes), JSON.stringify(filter.code)];
    const errorCode = summaryField("error_code");
    add(
      `((${code}) / 100 in ${BOUND_LIST} or ${code} in ${BOUND_LIST} or ${errorCode} in ${BOUND_LIST})`,
      ...lists,
    );
  }
  addChoice(filter.key, (set) => `${summaryField("key")} in ${set}`);
  addChoice(filter.team, (set) => `${summaryField("team")} in ${set}`);
  addChoice(filter.path, (set) => `${summaryField("path")} in ${set}`);
  addChoice(filter.dialect, (set) => `${summaryField("dialect")} in ${set}`);
  addChoice(filter.source, (set) => `${summaryField("source")} in ${set}`);
  addChoice(
    filter.model,
    (set) => `(${summaryField("model")} in ${set} or ${summaryField("requested_model")} in ${set})`,
    2,
  );
  const tried = summaryField("tried");
  for (const name of ["account", "provider"] as const) {
    const unnamed = name === "provider" && filter.provider?.includes(DEFAULT_PROVIDER);
    addChoice(
      filter[name],
      (set) =>
        `(${summaryField(name)} in ${set}${unnamed ? ` or ${OF_ONLY_PROVIDER}` : ""} or ${tried} <> '[]' and exists(select 1 from json_each(${tried}) where value ->> '$.${name}' in ${set}))`,
      2,
    );
  }
  const tokens = `(${summaryField("prompt_tokens")}) + (${summaryField("completion_tokens")})`;
  addBound(filter.minMs, `${summaryField("elapsed_ms")} >= ?`);
  addBound(filter.maxMs, `${summaryField("elapsed_ms")} <= ?`);
  addBound(filter.minTokens, `${tokens} >= ?`);
  addBound(filter.maxTokens, `${tokens} <= ?`);
  const isNarrowed = conditions.length > 0;
  if (q !== "") add(HAS_TEXT, q, JSON.stringify(q).slice(1, -1), q);
  return { where: conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`, values, isNarrowed };
}

/** The `from` and `where` of a query on single records. `isIndexed`: {@link FILTER_INDEX} exists. */
export function buildRecordsQuery({ where, isNarrowed }: Condition, isIndexed: boolean): string {
  // By itself SQLite reads the summaries: it does not know that using the wide index avoids that.
  return isNarrowed && isIndexed
    ? `from record indexed by ${FILTER_INDEX}${where} and created > -1e300`
    : `from record${where}`;
}
