import { OTHER, type UsageDimensions } from "../platform/usage.ts";

/** Names of models that one key has on one day. */
const MAX_MODELS = 100;
/** Rows of one key on one day, and of all. */
const MAX_KEY_ROWS = 2_000;
const MAX_ROWS = 50_000;

/** What of a day is told apart: how much may still be. */
export class DayBounds {
  readonly #rows = new Set<string>();
  readonly #keys = new Map<string, { rows: number; readonly models: Set<string> }>();

  /** Notes a row that is there, whatever the bounds. */
  note(dimensions: UsageDimensions): void {
    const row = rowOf(dimensions);
    if (this.#rows.has(row)) return;
    this.#rows.add(row);
    const key = this.#key(dimensions.key);
    key.rows += 1;
    for (const model of [dimensions.requested_model, dimensions.model]) key.models.add(model);
  }

  /**
   * The dimensions under which something is counted: those that it has, unless there are too many rows by then; then models,
   * and at last everything but the key and the outcome, become `other`.
   */
  admit(dimensions: UsageDimensions): UsageDimensions {
    if (this.#rows.has(rowOf(dimensions))) return dimensions;
    const key = this.#key(dimensions.key);
    const { requested_model, model } = dimensions;
    const known = (name: string) => key.models.has(name) || key.models.size < MAX_MODELS;
    let admitted = dimensions;
    if (!known(model)) admitted = { ...admitted, requested_model: OTHER, model: OTHER };
    else if (!known(requested_model)) admitted = { ...admitted, requested_model: OTHER };
    if (key.rows >= MAX_KEY_ROWS || this.#rows.size >= MAX_ROWS) {
      const { key: id, outcome, provider } = dimensions;
      admitted = {
        key: id,
        requested_model: OTHER,
        model: OTHER,
        provider,
        account: OTHER,
        dialect: OTHER,
        operation: OTHER,
        outcome,
      };
    }
    this.note(admitted);
    return admitted;
  }

  #key(id: string): { rows: number; readonly models: Set<string> } {
    let key = this.#keys.get(id);
    if (key === undefined) {
      key = { rows: 0, models: new Set() };
      this.#keys.set(id, key);
    }
    return key;
  }
}

function rowOf(dimensions: UsageDimensions): string {
  const { key, requested_model, model, provider, account, dialect, operation, outcome } = dimensions;
  return [key, requested_model, model, provider, account, dialect, operation, outcome].join("\0");
}
