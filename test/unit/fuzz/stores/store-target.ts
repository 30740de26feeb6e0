import fc from "fast-check";
import { isObject } from "../../../../src/core/encoding/json.ts";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { FailingSql, InjectedFailure } from "../../../support/failing-sql.ts";
import { type Target, target } from "../target.ts";
import { Choices } from "./choices.ts";

/** Inputs of a parser that take as long as one sequence. */
const COST = 10;
const MAX_STEPS = 30;
const START = 1_800_000_000_000;
/** How the clock may be set, in milliseconds. */
const CLOCK_STEPS = [
  1,
  999,
  60_000,
  61_000,
  3_600_000,
  86_400_000,
  40 * 86_400_000,
  -1,
  -5_000,
  -3_600_000,
] as const;

/** Does one thing with a store. What the store has taken is noted in the model, behind the call that may fail. */
export type Operation<S, M> = (
  store: S,
  choose: Choices,
  model: M,
  now: () => number,
) => void | Promise<void>;

/** A store, and what it promises. */
export interface StoreRules<S, M> {
  readonly name: string;
  /** Opens the store on a database that may hold something already. */
  readonly open: (sql: Sql, now: () => number) => S | Promise<S>;
  /** What an empty store holds. */
  readonly model: () => M;
  readonly operations: readonly [Operation<S, M>, ...Operation<S, M>[]];
  /** Throws when the store says something else than the model. */
  readonly check: (store: S, model: M, now: () => number) => void | Promise<void>;
  /** False: what becomes of a failed statement is not for this store to say. */
  readonly faults?: false;
  /** True: the clock is never set back; what it means for the store is not for it to say. */
  readonly forwardOnly?: true;
  /** Called before the store is closed, and before it is checked: writes that the database refused are repeated. */
  readonly flush?: (store: S) => void;
  /** What was under way when the store was closed, or a statement failed, is over. */
  readonly reopened?: (model: M, now: () => number) => void;
}

/** One step of a sequence: what is done, and the number that decides on its values. */
type Step = readonly [operation: number, seed: number];

const steps = fc
  .array(fc.tuple(fc.nat(99), fc.nat()), { maxLength: MAX_STEPS, size: "max" })
  .map((sequence) => JSON.stringify(sequence));

/** The steps that a text names; none if it names something else. */
function stepsIn(input: string): Step[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(input);
  } catch {
    return [];
  }
  const list: unknown[] = Array.isArray(parsed) ? parsed.slice(0, MAX_STEPS) : [];
  return list.flatMap((step): Step[] => {
    const [operation, seed]: unknown[] = Array.isArray(step) ? step : [];
    return Number.isSafeInteger(operation) && Number.isSafeInteger(seed)
      ? [[Math.abs(Number(operation)), Number(seed)]]
      : [];
  });
}

/**
 * A target of random sequences of operations. They throw only errors of the gateway and injected faults, a failed statement changes
 * nothing, and written data reads back, also after the store was opened again.
 */
export function storeTarget<S, M>(rules: StoreRules<S, M>): Target {
  const corpus = ["[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7],[7,8],[8,9],[9,10],[10,11],[11,12]]"];
  const play = async (input: string) => {
    // SQLite takes back a transaction by itself when the disk is full.
    const sql = new FailingSql(
      Number.POSITIVE_INFINITY,
      input.length % 2 === 0 ? "before" : "with its transaction",
    );
    let at = START;
    const now = () => at;
    try {
      let store = await rules.open(sql, now);
      const model = rules.model();
      const check = async () => {
        rules.flush?.(store);
        await rules.check(store, model, now);
      };
      const reopen = async () => {
        rules.flush?.(store);
        store = await rules.open(sql, now);
        rules.reopened?.(model, now);
        await rules.check(store, model, now);
      };
      for (const [operation, seed] of stepsIn(input)) {
        const choose = new Choices(seed);
        const dice = operation % 20;
        if (dice === 0) await reopen();
        else if (dice === 1) at += clockStep(choose, rules.forwardOnly === true);
        else {
          if (dice === 2 && rules.faults !== false) sql.failAfter(choose.below(6));
          const chosen = choose.below(rules.operations.length);
          const failed = await fails(() =>
            (rules.operations[chosen] ?? rules.operations[0])(store, choose, model, now),
          );
          sql.heal();
          if (failed) await check();
        }
      }
      await check();
      await reopen();
    } finally {
      sql.close();
    }
  };
  return target(`store, ${rules.name}`, corpus, play, { inputs: steps, cost: COST });
}

/** By how much the clock is set, in milliseconds. */
function clockStep(choose: Choices, forwardOnly: boolean): number {
  const step = choose.of(...CLOCK_STEPS);
  return forwardOnly ? Math.abs(step) : step;
}

/** Whether work fails as it may; rejects if it fails otherwise. */
async function fails(work: () => void | Promise<void>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof InjectedFailure || error instanceof GatewayError) return true;
    throw error;
  }
}

/** A value as storage gives it back: halves of characters are replaced, -0 is 0, and members have no order. */
function plain(value: unknown): string {
  const json = JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === "string") return one.toWellFormed();
    if (typeof one === "number" && !Number.isFinite(one)) return String(one);
    if (!isObject(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
  return json ?? "undefined";
}

/** Throws unless two values are the same to storage. */
export function same(what: string, got: unknown, wanted: unknown): void {
  const [left, right] = [plain(got), plain(wanted)];
  if (left !== right)
    throw new Error(`${what}: ${left.slice(0, 2_000)}\n instead of ${right.slice(0, 2_000)}`);
}

/** The same of sums, which may be rounded: beyond 2^53 they are exact to 15 digits. */
export function sameSum(what: string, got: number, wanted: number): void {
  const isSame = Math.abs(got - wanted) <= Math.max(Math.abs(got), Math.abs(wanted)) * 1e-9;
  if (!isSame) throw new Error(`${what.slice(-100)}: ${got} instead of ${wanted}`);
}
