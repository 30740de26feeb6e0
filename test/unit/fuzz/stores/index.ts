import type { Target } from "../target.ts";
import { alerts } from "./alerts.ts";
import { answers, rates } from "./answers.ts";
import { auditLog } from "./audit-log.ts";
import { captures } from "./captures.ts";
import { configuration } from "./configuration.ts";
import { history } from "./history.ts";
import { jobs } from "./jobs.ts";
import { kept } from "./kept.ts";
import { ledger, useStore } from "./limits.ts";
import { packs } from "./packs.ts";
import { poolStore } from "./pool.ts";
import { usageStore } from "./usage.ts";

/** Every store of the program. A new one needs a row here. */
export const storeTargets: readonly Target[] = [
  poolStore,
  useStore,
  ledger,
  usageStore,
  history,
  packs,
  captures,
  auditLog,
  configuration,
  alerts,
  kept,
  jobs,
  answers,
  rates,
];
