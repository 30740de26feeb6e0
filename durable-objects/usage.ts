import { DurableObject } from "cloudflare:workers";
import type { Env } from "../src/platform/cloudflare/env.ts";
import { durableSql } from "../src/platform/cloudflare/sql.ts";
import type {
  ActivityAnswer,
  ActivityQuery,
  KeyUse,
  UsageAnswer,
  UsageMessage,
  UsageQuery,
} from "../src/platform/usage.ts";
import { SqlUsage } from "../src/usage/sql-usage.ts";

/** Sums up usage; the rules are in `src/usage/sql-usage.ts`. */
export class Usage extends DurableObject<Env> {
  readonly #usage: SqlUsage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#usage = new SqlUsage(durableSql(ctx.storage), Date.now);
  }

  write(message: UsageMessage): void {
    this.#usage.write(message);
  }

  read(query: UsageQuery): UsageAnswer {
    return this.#usage.read(query);
  }

  activity(query: ActivityQuery): ActivityAnswer {
    return this.#usage.activity(query);
  }

  keys(): KeyUse[] {
    return this.#usage.keys();
  }
}
