import { DurableObject } from "cloudflare:workers";
import type { ActivityQuery, ActivityReport } from "../src/core/ports/activity.ts";
import type { KeyUsage, UsageMessage, UsageQuery, UsageReport } from "../src/core/ports/usage.ts";
import { SqlUsage } from "../src/records/usage/sql-usage.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";
import { durableSql } from "../src/runtime/cloudflare/sql.ts";

/** Sums up usage; the rules are in `src/records/usage/sql-usage.ts`. */
export class Usage extends DurableObject<Env> {
  readonly #usage: SqlUsage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#usage = new SqlUsage(durableSql(ctx.storage), Date.now);
  }

  write(message: UsageMessage): void {
    this.#usage.write(message);
  }

  read(query: UsageQuery): UsageReport {
    return this.#usage.read(query);
  }

  activity(query: ActivityQuery): ActivityReport {
    return this.#usage.readActivity(query);
  }

  keys(): KeyUsage[] {
    return this.#usage.listKeyUsage();
  }
}
