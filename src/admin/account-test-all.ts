import * as z from "zod";
import { resolveModel } from "../models/resolve.ts";
import type { AccountTestResult, TestAllProgress } from "../platform/administration.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { modelSchema, testAccount } from "./account-test.ts";
import { accountTestResultSchema } from "./answers.ts";
import { identifiers } from "./identifiers.ts";
import { inParallel } from "./in-parallel.ts";

/** Accounts that are tested at one moment (contract, Limits). */
export const CONCURRENCY = 5;
/** Progress is written at most this often. */
const REPORT_MS = 500;
/** A run that has said nothing for this long was cut off. */
const CUT_OFF_MS = 60_000;
const MAX_FAILURES = 200;

/** `POST /admin/accounts/test-all`. The body may be missing. */
const testAllSchema = z.object({ model: modelSchema });

/** Counts outcomes, and tells how far the run has come. */
class Run {
  readonly results: AccountTestResult[] = [];
  readonly #context: Context;
  readonly #total: number;
  readonly #startedAt: number;
  #reportedAt = 0;

  constructor(context: Context, total: number) {
    this.#context = context;
    this.#total = total;
    this.#startedAt = context.platform.now();
  }

  get success(): number {
    return this.results.filter(({ success }) => success).length;
  }

  /** Makes the progress readable; not more often than needed, unless the run is over. */
  async report(finished: boolean): Promise<void> {
    const now = this.#context.platform.now();
    if (!finished && now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    const { success } = this;
    const progress: TestAllProgress = {
      total: this.#total,
      done: this.results.length,
      success,
      failed: this.results.length - success,
      started_at: this.#startedAt,
      updated_at: now,
      finished_at: finished ? now : 0,
      failures: this.results.filter((result) => !result.success).slice(-MAX_FAILURES),
    };
    await this.#context.platform.administration.setTestProgress(progress).catch(() => undefined);
  }
}

/**
 * Lets other requests in. While the provider runs in the same process, as the sandbox does, there is always something to
 * do next, and a runtime that finds something to do does not look at its sockets.
 */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

async function runTests(context: Context, accounts: readonly string[], model: string): Promise<Run> {
  const run = new Run(context, accounts.length);
  await run.report(false);
  await inParallel(accounts, CONCURRENCY, async (account) => {
    if (context.request.signal.aborted) return;
    run.results.push(await testAccount(context, account, model, ""));
    await run.report(false);
    await breathe();
  });
  await run.report(true);
  return run;
}

const countsSchema = () => z.object({ total: z.int(), success: z.int(), failed: z.int() });

/** Times are Unix milliseconds, `finished_at` 0 while the test runs; there are none before the first test. */
const progressSchema = () =>
  countsSchema().extend({
    running: z.boolean(),
    done: z.int(),
    started_at: z.int().optional(),
    updated_at: z.int().optional(),
    finished_at: z.int().optional(),
    failures: z.array(accountTestResultSchema()),
  });

export const TEST_ALL_ENDPOINTS: readonly Endpoint[] = [
  /** `POST /admin/accounts/test-all` (contract): five at a time. */
  forAdministrators({
    method: "POST",
    path: "/admin/accounts/test-all",
    summary: "Test all accounts",
    body: testAllSchema,
    optionalBody: true,
    answers: json(() => countsSchema().extend({ results: z.array(accountTestResultSchema()) })),
    handler: async (context, { body: { model } }) => {
      const { config } = await context.platform.configuration.readFresh();
      resolveModel(model, config.model_aliases);
      const running = runTests(context, await identifiers(config), model);
      context.waitUntil(running);
      const { results, success } = await running;
      return Response.json({ total: results.length, success, failed: results.length - success, results });
    },
  }),
  /** `GET /admin/accounts/test-all/status`: how far the latest test of all accounts has come. */
  forAdministrators({
    method: "GET",
    path: "/admin/accounts/test-all/status",
    summary: "Progress of the test of all accounts",
    answers: json(progressSchema),
    handler: async ({ platform }) => {
      const progress = await platform.administration.testProgress();
      if (progress === null) {
        return Response.json({ running: false, total: 0, done: 0, success: 0, failed: 0, failures: [] });
      }
      const running = progress.finished_at === 0 && platform.now() - progress.updated_at < CUT_OFF_MS;
      return Response.json({ running, ...progress });
    },
  }),
];
