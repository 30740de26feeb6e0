import { keyIdentifier, listApiKeys } from "../../../core/config/api-keys.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { HistoryRecord, HistorySummary } from "../../../core/ports/archive.ts";
import { readStoredUsage } from "../../../records/usage/priced-usage.ts";
import { computeCostNano, findModelPrice, fromNano } from "../../../records/usage/prices.ts";

/** What the configuration of now says of a stored record. */
export interface RecordLabels {
  /** Name of its API key; null: it had none of the configured keys. */
  readonly key_name: string | null;
  /** Name of its team; null: it had none of the configured teams. */
  readonly team_name: string | null;
  /** Its cost at the present prices; null: its model has no price. */
  readonly cost: number | null;
}

function computeCost(config: Config, record: HistorySummary): number | null {
  const price = findModelPrice(config, record.model, record.requested_model);
  if (price === null) return null;
  return fromNano(computeCostNano(price, readStoredUsage(record)));
}

/** Returns a function that adds key names and costs to records. */
export async function createRecordLabeler(
  config: Config,
): Promise<<R extends HistorySummary>(record: R) => R & RecordLabels> {
  const teams = new Map(config.teams.map(({ id, name }) => [id, name]));
  const names = new Map(
    await Promise.all(
      listApiKeys(config).map(async (entry) => [await keyIdentifier(entry), entry.name] as const),
    ),
  );
  return (record) => ({
    ...record,
    key_name: names.get(record.key) ?? null,
    team_name: teams.get(record.team ?? "") ?? null,
    cost: computeCost(config, record),
  });
}

/** A record as JSON. Parses its messages and options, which are stored as text. */
export function createRecordView(record: HistoryRecord) {
  const messages: unknown = JSON.parse(record.messages);
  const options: unknown = record.options === "" ? null : JSON.parse(record.options);
  return { ...record, messages, options };
}
