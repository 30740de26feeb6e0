import type { LimitName } from "../../../../src/core/config/limit-kinds.ts";
import type {
  LimitedUse,
  SpentAmounts,
  SubjectLimits,
  SubjectUsage,
} from "../../../../src/core/ports/subject-limits.ts";

const MINUTE = 60_000;
const PAUSE = 2_000;
export const ORPHANS = 12_000;

interface ModelUse extends LimitedUse {
  takenAt: number;
  /** 0: it waits. */
  at: number;
  counts: SpentAmounts;
  extra: SpentAmounts;
  ended: number;
  settled: boolean;
  slots: number;
  endsAt: number;
  forgotten: boolean;
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);
const month = (at: number) => new Date(at).toISOString().slice(0, 7);

/** What the ledger promises, written the plain way: all requests ever, added up anew each time. */
export class LedgerModel {
  readonly uses: ModelUse[] = [];

  of(key: string, now: number): SubjectUsage {
    this.pass(now);
    const own = this.uses.filter((use) => use.key === key);
    const parts = own.flatMap((use) => [
      { at: use.at || now, day: use.at || use.takenAt, requests: 1, ...use.counts },
      { at: use.ended, day: use.ended, requests: 0, ...use.extra },
    ]);
    const sum = (some: typeof parts, what: "requests" | "tokens" | "cost") =>
      some.reduce((total, part) => total + part[what], 0);
    const minute = parts.filter((part) => part.at > now - MINUTE);
    const today = parts.filter((part) => day(part.day) === day(now));
    const thisMonth = parts.filter((part) => month(part.day) === month(now));
    return {
      key,
      parallel: own.filter((use) => use.ended === 0).length,
      minute: { requests: sum(minute, "requests"), tokens: sum(minute, "tokens") },
      day: { tokens: sum(today, "tokens"), cost: sum(today, "cost") },
      month: { tokens: sum(thisMonth, "tokens"), cost: sum(thisMonth, "cost") },
    };
  }

  /** The limits that another request would break. */
  broken(key: string, limits: SubjectLimits, tokens: number, now: number): Set<LimitName> {
    const { parallel, minute, day: today, month: thisMonth } = this.of(key, now);
    const found = new Set<LimitName>();
    const check = (limit: LimitName, used: number) => {
      const max = limits[limit] ?? 0;
      if (max > 0 && used > max) found.add(limit);
    };
    check("requests_per_minute", minute.requests + 1);
    check("tokens_per_minute", minute.tokens + tokens);
    check("max_parallel", parallel + 1);
    check("tokens_per_day", today.tokens + 1);
    check("tokens_per_month", thisMonth.tokens + 1);
    check("cost_per_day", today.cost + 1);
    check("cost_per_month", thisMonth.cost + 1);
    return found;
  }

  take(use: LimitedUse, now: number): void {
    this.pass(now);
    const known = this.#known(use.id);
    if (known !== undefined) {
      known.endsAt = Number.POSITIVE_INFINITY;
      if (!known.settled) known.ended = 0;
      return;
    }
    const { tokens, cost } = use;
    this.uses.push({
      ...use,
      takenAt: now,
      at: 0,
      counts: { tokens, cost },
      extra: { tokens: 0, cost: 0 },
      ended: 0,
      settled: false,
      slots: 0,
      endsAt: Number.POSITIVE_INFINITY,
      forgotten: false,
    });
  }

  begin(id: string, now: number): void {
    const use = this.#known(id);
    if (use === undefined) return;
    use.slots += 1;
    use.endsAt = Number.POSITIVE_INFINITY;
    if (use.at === 0) use.at = now;
  }

  leave(id: string, now: number): void {
    const use = this.#known(id);
    if (use === undefined) return;
    use.slots -= 1;
    if (use.slots === 0 && use.ended === 0) use.endsAt = now + PAUSE;
  }

  giveBack(id: string, now: number): void {
    const use = this.#known(id);
    if (use === undefined) return;
    if (use.at === 0) this.uses.splice(this.uses.indexOf(use), 1);
    else if (use.slots === 0 && use.ended === 0) use.endsAt = now + PAUSE;
  }

  settle(id: string, spent: SpentAmounts, now: number): void {
    this.pass(now);
    const use = this.#known(id);
    if (use === undefined || use.settled) return;
    if (use.at === 0) {
      this.uses.splice(this.uses.indexOf(use), 1);
      return;
    }
    const { counts } = use;
    use.extra = {
      tokens: Math.max(0, spent.tokens - counts.tokens),
      cost: Math.max(0, spent.cost - counts.cost),
    };
    use.counts = {
      tokens: Math.min(counts.tokens, spent.tokens),
      cost: Math.min(counts.cost, spent.cost),
    };
    use.settled = true;
    use.ended = now;
    use.endsAt = Number.POSITIVE_INFINITY;
  }

  restart(now: number): void {
    for (const use of this.uses) {
      use.slots = 0;
      if (use.ended === 0) use.endsAt = now + ORPHANS;
      if (use.at === 0) use.takenAt = now;
    }
  }

  resumed(id: string): void {
    const use = this.#known(id);
    if (use === undefined) return;
    use.slots += 1;
    use.endsAt = Number.POSITIVE_INFINITY;
    if (!use.settled) use.ended = 0;
  }

  /** Nobody is asked any more what ended more than a minute ago. */
  sweep(now: number): void {
    this.pass(now);
    for (const use of this.uses) if (use.ended !== 0 && use.ended <= now - MINUTE) use.forgotten = true;
  }

  pass(now: number): void {
    for (const use of [...this.uses]) {
      if (use.endsAt > now) continue;
      use.endsAt = Number.POSITIVE_INFINITY;
      if (use.at === 0) this.uses.splice(this.uses.indexOf(use), 1);
      else use.ended = now;
    }
  }

  #known(id: string): ModelUse | undefined {
    return this.uses.find((use) => use.id === id && !use.forgotten);
  }
}
