import * as z from "zod";
import type { AccountState } from "./account-state.ts";
import { type StoredHealth, storedHealthSchema } from "./health.ts";
import type { PoolStore } from "./pool-store.ts";

/** Accounts whose health goes into one row: a row is some hundred kilobytes at most, and a save few rows. */
const ACCOUNTS_IN_A_PART = 500;

const partSchema = z.record(z.string(), storedHealthSchema);

/**
 * Keeps how accounts have done, so that a restart does not forget it. Saved seldom, all together, and only when there is news:
 * what the last seconds before a restart have brought is not worth a write with each request.
 */
export class HealthKeeper {
  readonly #store: PoolStore;

  constructor(store: PoolStore, state: (id: string) => AccountState) {
    this.#store = store;
    for (const part of store.loadHealth()) {
      for (const [id, health] of Object.entries(parsed(part))) state(id).health.load(health);
    }
  }

  /** Saves the health of the configured accounts among `states`, if there is news of any. */
  save(states: Iterable<AccountState>): void {
    const configured = [...states].filter(({ account }) => account !== null);
    if (!configured.some(({ health }) => health.changed)) return;
    const known = configured.flatMap(({ id, health }): [string, StoredHealth][] => {
      const stored = health.save();
      return stored === null ? [] : [[id, stored]];
    });
    const parts: string[] = [];
    for (let at = 0; at < known.length; at += ACCOUNTS_IN_A_PART) {
      parts.push(JSON.stringify(Object.fromEntries(known.slice(at, at + ACCOUNTS_IN_A_PART))));
    }
    this.#store.saveHealth(parts);
  }
}

/** What another version has written otherwise is not known any more. */
function parsed(part: string): Readonly<Record<string, StoredHealth>> {
  return partSchema.safeParse(JSON.parse(part)).data ?? {};
}
