import { OTHER_VALUES, type UsageDimensions } from "../../core/ports/usage.ts";

/** Limit of model names of one key on one day. */
const MAX_MODELS = 100;
/** Limit of lists of tags of one key on one day. */
const MAX_TAG_LISTS = 100;
/** Limits of rows on one day: of one key, and of all keys. */
const MAX_KEY_ROWS = 2_000;
const MAX_ROWS = 50_000;

interface KeyRows {
  rows: number;
  readonly models: Set<string>;
  readonly tags: Set<string>;
}

/** Limits how many different dimensions one day may have. */
export class DayRowLimits {
  readonly #rows = new Set<string>();
  readonly #keys = new Map<string, KeyRows>();

  /** Adds an existing row, regardless of the limits. */
  addRow(dimensions: UsageDimensions): void {
    const row = formatRow(dimensions);
    if (this.#rows.has(row)) return;
    this.#rows.add(row);
    const key = this.#key(dimensions.key);
    key.rows += 1;
    for (const model of [dimensions.requested_model, dimensions.model]) key.models.add(model);
    key.tags.add(dimensions.tag);
  }

  /**
   * The dimensions under which to count: the given ones while the limits allow. Beyond the limits of a key, its model names
   * or its tags become `other`. Beyond the limits of rows, only key, provider, outcome, team and user stay.
   */
  limitDimensions(dimensions: UsageDimensions): UsageDimensions {
    if (this.#rows.has(formatRow(dimensions))) return dimensions;
    const key = this.#key(dimensions.key);
    const { requested_model, model } = dimensions;
    const isAllowed = (name: string) => key.models.has(name) || key.models.size < MAX_MODELS;
    let admitted = dimensions;
    if (!isAllowed(model)) admitted = { ...admitted, requested_model: OTHER_VALUES, model: OTHER_VALUES };
    else if (!isAllowed(requested_model)) admitted = { ...admitted, requested_model: OTHER_VALUES };
    if (!key.tags.has(dimensions.tag) && key.tags.size >= MAX_TAG_LISTS)
      admitted = { ...admitted, tag: OTHER_VALUES };
    if (key.rows >= MAX_KEY_ROWS || this.#rows.size >= MAX_ROWS) {
      const { key: id, outcome, provider, team, user } = dimensions;
      admitted = {
        key: id,
        requested_model: OTHER_VALUES,
        model: OTHER_VALUES,
        provider,
        account: OTHER_VALUES,
        dialect: OTHER_VALUES,
        operation: OTHER_VALUES,
        outcome,
        team,
        user,
        tag: OTHER_VALUES,
      };
    }
    this.addRow(admitted);
    return admitted;
  }

  #key(id: string): KeyRows {
    let key = this.#keys.get(id);
    if (key === undefined) {
      key = { rows: 0, models: new Set(), tags: new Set() };
      this.#keys.set(id, key);
    }
    return key;
  }
}

function formatRow(dimensions: UsageDimensions): string {
  const { key, requested_model, model, provider, account, dialect, operation, outcome } = dimensions;
  const { team, user, tag } = dimensions;
  return [key, requested_model, model, provider, account, dialect, operation, outcome, team, user, tag].join(
    "\0",
  );
}
