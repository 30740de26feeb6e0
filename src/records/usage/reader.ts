import { DEFAULT_PROVIDER } from "../../core/config/provider-id.ts";
import {
  OUTCOME_TOTALS,
  USAGE_DIMENSIONS,
  USAGE_SUMS,
  USAGE_TIMES,
  type UsageDimension,
  type UsageDimensions,
  type UsageGroup,
  type UsageQuery,
  type UsageReport,
  type UsageSums,
  type UsageTimes,
} from "../../core/ports/usage.ts";
import { amountIn, numberIn, type Sql, type SqlRow, type SqlValue, textIn } from "../../core/storage/sql.ts";
import { computePercentiles } from "./histogram.ts";
import { selectTable } from "./time-range.ts";

// SQLite's `sum` of integers fails beyond 2^63; `total` adds numbers of any size.
const SUMS = USAGE_SUMS.map((name) => `total(r.${name}) as ${name}`).join(", ");
const OUTCOMES = Object.entries(OUTCOME_TOTALS)
  .map(([outcome, name]) => `total(iif(d.outcome = '${outcome}', r.requests, 0)) as ${name}`)
  .join(", ");

type Distributions = { [T in keyof UsageTimes]: Record<string, number> };

const createDistributions = (): Distributions => ({ first_token: {}, duration: {}, queue: {} });

/** The tags of a row; one empty text without tags. */
const EACH_TAG = `json_each('[' || replace(json_quote(cast(d.tag as text)), ',', '","') || ']')`;

/** Parses the sums of a row. Throws if one is damaged. */
export function parseSums(row: SqlRow | undefined): UsageSums {
  return {
    requests: amountIn(row, "requests"),
    cache_hits: amountIn(row, "cache_hits"),
    provider_errors: amountIn(row, "provider_errors"),
    prompt_tokens: amountIn(row, "prompt_tokens"),
    cached_tokens: amountIn(row, "cached_tokens"),
    cache_write_5m_tokens: amountIn(row, "cache_write_5m_tokens"),
    cache_write_1h_tokens: amountIn(row, "cache_write_1h_tokens"),
    audio_input_tokens: amountIn(row, "audio_input_tokens"),
    completion_tokens: amountIn(row, "completion_tokens"),
    reasoning_tokens: amountIn(row, "reasoning_tokens"),
    audio_output_tokens: amountIn(row, "audio_output_tokens"),
    image_input_tokens: amountIn(row, "image_input_tokens"),
    image_output_tokens: amountIn(row, "image_output_tokens"),
    audio_seconds: amountIn(row, "audio_seconds"),
    search_units: amountIn(row, "search_units"),
    web_searches: amountIn(row, "web_searches"),
    web_fetches: amountIn(row, "web_fetches"),
    cost_nano: amountIn(row, "cost_nano"),
    attempts: amountIn(row, "attempts"),
    first_token_ms: amountIn(row, "first_token_ms"),
    duration_ms: amountIn(row, "duration_ms"),
    queue_ms: amountIn(row, "queue_ms"),
  };
}

/** Reads the usage rollups. */
export class UsageReader {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Sums of one day, grouped by key. */
  sumByKey(day: number): readonly SqlRow[] {
    return this.#sql.all(
      `select d.key as key, ${SUMS} from usage_day r join usage_dimension d on d.id = r.dimension where r.at = ? group by d.key`,
      day,
    );
  }

  read(query: UsageQuery): UsageReport {
    const statements = new UsageStatements(query);
    const grouped = statements.columns.length > 0;
    const rows = grouped
      ? this.#sql.all(statements.groupsStatement, ...statements.values, query.limit + 1)
      : [];
    const times = grouped
      ? this.#readDistributions(statements, statements.columns)
      : new Map<string, Distributions>();
    const groups = rows
      .slice(0, query.limit)
      .map((row) => statements.group(row, times.get(statements.name(row)) ?? createDistributions()));
    const total = this.#sql.all(statements.totalStatement, ...statements.values)[0];
    const all = this.#readDistributions(statements, []).get("") ?? createDistributions();
    const totals = { ...statements.group(total, all), dimensions: {}, at: query.from };
    // The limit keeps the newest groups; the result is in ascending time order.
    if (statements.divided) groups.sort((a, b) => a.at - b.at);
    return {
      groups: grouped ? groups : [totals],
      totals,
      truncated: rows.length > query.limit,
    };
  }

  /** The distributions of each group, by its name. */
  #readDistributions(statements: UsageStatements, columns: readonly Column[]): Map<string, Distributions> {
    const byName = new Map<string, Distributions>();
    for (const time of USAGE_TIMES) {
      for (const row of this.#sql.all(statements.timesStatement(time, columns), ...statements.values)) {
        const name = columns.length === 0 ? "" : statements.name(row);
        let distributions = byName.get(name);
        if (distributions === undefined) {
          distributions = createDistributions();
          byName.set(name, distributions);
        }
        distributions[time][textIn(row, "bucket")] = numberIn(row, "observed");
      }
    }
    return byName;
  }
}

/** A column to group by. */
interface Column {
  readonly name: string;
  readonly sql: string;
}

/**
 * The provider of a row. Earlier versions stored the default provider by the name of its driver: rows of before the change
 * with a name in `names` (the place of a JSON list) are its rows.
 */
const providerColumn = (names: string) =>
  `iif(d.provider in (select value from json_each(${names})) and r.at < (select provider_ids_since from usage_naming), '${DEFAULT_PROVIDER}', d.provider)`;

const formatColumns = (columns: readonly Column[]) => columns.map(({ name, sql }) => `${sql} as ${name}`);

/** A query as SQL. Column names are constants of the program; values from callers are bound. */
class UsageStatements {
  readonly #query: UsageQuery;
  readonly divided: boolean;
  readonly columns: readonly Column[];
  readonly values: SqlValue[] = [];
  readonly #from: string;
  readonly #where: string;
  readonly #tags: string;

  constructor(query: UsageQuery) {
    this.#query = query;
    const provider = providerColumn(this.#bind(JSON.stringify(query.defaultProviderNames ?? [])));
    const column = (name: UsageDimension) => (name === "provider" ? provider : `d.${name}`);
    this.divided = query.granularity !== "total";
    this.columns = [
      ...(this.divided ? [{ name: "at", sql: "r.at" }] : []),
      ...query.groupBy.map((name) => ({ name, sql: name === "tag" ? "t.value" : column(name) })),
    ];
    this.#from = `from usage_${selectTable(query)} r join usage_dimension d on d.id = r.dimension`;
    // A request with several tags counts for each of them, but once in the totals.
    this.#tags = query.groupBy.includes("tag") ? `, ${EACH_TAG} t` : "";
    const filters = USAGE_DIMENSIONS.flatMap((name) => {
      const values = query.filters[name];
      return values === undefined ? [] : [{ name, values }];
    });
    this.#where = [
      `where r.at >= ${this.#bind(query.from)} and r.at < ${this.#bind(query.to)}`,
      ...filters.map(({ name, values }) => {
        const list = values.map((value) => this.#bind(value)).join(", ");
        return name === "tag"
          ? `exists (select 1 from ${EACH_TAG} f where f.value in (${list}))`
          : `${column(name)} in (${list})`;
      }),
    ].join(" and ");
  }

  /** Adds a bound value and returns its place. */
  #bind(value: SqlValue): string {
    this.values.push(value);
    return `?${this.values.length}`;
  }

  /** Takes one more bound value: the limit of rows. */
  get groupsStatement(): string {
    const groupColumns = this.columns.map(({ sql }) => sql).join(", ");
    const order = this.divided ? "r.at desc, requests desc" : "requests desc";
    const selection = [...formatColumns(this.columns), SUMS, OUTCOMES].join(", ");
    return `select ${selection} ${this.#from}${this.#tags} ${this.#where} group by ${groupColumns} order by ${order} limit ?${this.values.length + 1}`;
  }

  get totalStatement(): string {
    return `select ${SUMS}, ${OUTCOMES} ${this.#from} ${this.#where}`;
  }

  timesStatement(time: keyof UsageTimes, columns: readonly Column[]): string {
    const selection = [...formatColumns(columns), "b.key as bucket", "total(b.value) as observed"].join(", ");
    const groupColumns = [...columns.map(({ sql }) => sql), "b.key"].join(", ");
    const tags = columns.length === 0 ? "" : this.#tags;
    return `select ${selection} ${this.#from}${tags}, json_each(r.${time}) b ${this.#where} group by ${groupColumns}`;
  }

  name(row: SqlRow): string {
    return this.columns.map(({ name }) => String(row[name] ?? "")).join("\0");
  }

  group(row: SqlRow | undefined, distributions: Distributions): UsageGroup {
    return {
      at: this.divided ? numberIn(row, "at") : this.#query.from,
      dimensions: readDimensions(row, this.#query.groupBy),
      ...parseSums(row),
      succeeded: numberIn(row, "succeeded"),
      failed: numberIn(row, "failed"),
      cancelled: numberIn(row, "cancelled"),
      refused: numberIn(row, "refused"),
      times: {
        first_token: computePercentiles(distributions.first_token),
        duration: computePercentiles(distributions.duration),
        queue: computePercentiles(distributions.queue),
      },
    };
  }
}

function readDimensions(row: SqlRow | undefined, names: readonly UsageDimension[]): Partial<UsageDimensions> {
  return Object.fromEntries(names.map((name) => [name, textIn(row, name)]));
}
