import * as z from "zod";
import { describeForAdministrator } from "../../../core/errors/failure-message.ts";
import { isUnresponsivePool } from "../../../core/errors/unresponsive-pool.ts";
import type { AccountTestResult, TestAllProgress } from "../../../core/ports/administration.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { runInParallel } from "../../../core/run-in-parallel.ts";
import { resolveModel } from "../../../gateway/models/resolve-model.ts";
import { accountIdentifiers } from "../account-identifiers.ts";
import { successSchema } from "../answers.ts";
import { recordAction } from "../editing/audit-recording.ts";
import { requestObject } from "../request-fields.ts";
import { accountTestResultSchema, testAccount, testModelSchema } from "./account-test.ts";

/** Number of accounts that are tested at the same time (docs/contract/errors.md, Limits). */
export const TEST_CONCURRENCY = 5;
/** Minimum time between two writes of the progress. */
const REPORT_INTERVAL_MS = 500;
/** A run without progress for this long counts as interrupted. */
const STALE_RUN_MS = 60_000;
const MAX_FAILURES = 200;

/**
 * Body of `POST /admin/accounts/test-all`; it may be missing. `resume` continues the last run after the accounts that it
 * tested. `identifiers` limits the run to these accounts.
 */
const testAllSchema = requestObject(
  () => ({
    model: testModelSchema(),
    resume: z.boolean().default(false),
    identifiers: z.array(z.string()).optional(),
  }),
  // Clients may copy `message` from a test of one account; it has no effect here.
  () => z.object({ message: z.string() }),
);

/** Counts with which a resumed run starts. */
type RunStart = Pick<TestAllProgress, "done" | "success" | "failed" | "failures">;

const FRESH_START: RunStart = { done: 0, success: 0, failed: 0, failures: [] };

/** Counts the results of a test run and reports its progress. */
class TestRun {
  /** Results by account index. A resumed run has no results for the accounts that the earlier run tested. */
  readonly #results: (AccountTestResult | undefined)[] = [];
  readonly #context: Context;
  readonly #total: number;
  readonly #isPartial: boolean;
  readonly #startedAt: number;
  /** Counts of all accounts whose index is below `done`. */
  #counts: RunStart;
  #reportedAt = 0;
  /** An administrator cancelled the run. */
  cancelled = false;

  /** @param isPartial true if the run covers only some accounts; a later run cannot resume it */
  constructor(context: Context, total: number, runStart: RunStart, isPartial: boolean) {
    this.#context = context;
    this.#isPartial = isPartial;
    this.#total = total;
    this.#startedAt = context.platform.now();
    this.#counts = runStart;
  }

  /** Results of this run, in the order of the accounts. */
  get results(): AccountTestResult[] {
    return this.#results.filter((result) => result !== undefined);
  }

  recordResult(index: number, result: AccountTestResult): void {
    this.#results[index] = result;
    let { done, success, failed, failures } = this.#counts;
    for (let next = this.#results[done]; next !== undefined; next = this.#results[done]) {
      done += 1;
      if (next.success) success += 1;
      else {
        failed += 1;
        failures = [...failures, next].slice(-MAX_FAILURES);
      }
    }
    this.#counts = { done, success, failed, failures };
  }

  /** Writes the progress, at most once per `REPORT_INTERVAL_MS` unless the run is finished. */
  async reportProgress(isFinished: boolean): Promise<void> {
    const now = this.#context.platform.now();
    if (!isFinished && now - this.#reportedAt < REPORT_INTERVAL_MS) return;
    this.#reportedAt = now;
    const progress: TestAllProgress = {
      total: this.#total,
      ...this.#counts,
      started_at: this.#startedAt,
      updated_at: now,
      finished_at: isFinished ? now : 0,
      ...(this.#isPartial && { some: true }),
    };
    const cancelled = await this.#context.platform.administration
      .setTestProgress(progress)
      .catch(() => false);
    this.cancelled ||= cancelled;
  }
}

/**
 * Yields to the event loop so that other requests are served. If the provider runs in the same process (sandbox), promises
 * alone never let the runtime read its sockets.
 */
const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Returns a copy of the context whose work continues after the client disconnects. */
const detachFromClient = (context: Context): Context => ({
  ...context,
  request: new Request(context.url, { headers: context.request.headers }),
});

/** Tests the accounts until all are done or the run is cancelled. Continues after the client disconnects. */
async function runTests(
  context: Context,
  accounts: readonly string[],
  model: string,
  runStart: RunStart,
  isPartial: boolean,
): Promise<TestRun> {
  const run = new TestRun(context, accounts.length, runStart, isPartial);
  await run.reportProgress(false);
  await runInParallel(
    [...accounts.entries()].slice(runStart.done),
    TEST_CONCURRENCY,
    async ([index, account]) => {
      if (run.cancelled) return;
      const result = await testAccount(context, account, model, "").catch((error: unknown) => {
        if (!isUnresponsivePool(error)) throw error;
        const message = describeForAdministrator(error);
        return { account, model, success: false, message, response_time: 0, session_count: 0 };
      });
      run.recordResult(index, result);
      await run.reportProgress(false);
      await yieldToEventLoop();
    },
  );
  await run.reportProgress(true);
  return run;
}

/** Returns the counts of the last run if it is unfinished, else zero counts. */
async function readResumePoint({ platform }: Context, accounts: number): Promise<RunStart> {
  const last = await platform.administration.getTestProgress();
  return last === null || last.some === true || last.done >= accounts ? FRESH_START : last;
}

const countsSchema = () => z.object({ total: z.int(), success: z.int(), failed: z.int() });

/** Times are Unix milliseconds. `finished_at` is 0 while the test runs. Before the first test there are no times. */
const progressSchema = () =>
  countsSchema().extend({
    running: z.boolean(),
    done: z.int(),
    started_at: z.int().optional(),
    updated_at: z.int().optional(),
    finished_at: z.int().optional(),
    failures: z.array(accountTestResultSchema()),
    /** The run covers only some accounts. */
    some: z.boolean().optional(),
  });

export const TEST_ALL_ENDPOINTS = [
  /** `POST /admin/accounts/test-all` (docs/contract/admin-entries.md): tests five accounts at a time. */
  adminEndpoint({
    method: "POST",
    path: "/admin/accounts/test-all",
    summary: "Test all accounts",
    body: testAllSchema,
    optionalBody: true,
    answers: jsonResponse(() => countsSchema().extend({ results: z.array(accountTestResultSchema()) })),
    handler: async (context, { body: { model, resume, identifiers: requested } }) => {
      const { config } = await context.platform.configuration.readFresh();
      resolveModel(model, config);
      const all = await accountIdentifiers(config);
      const selected = requested === undefined ? null : new Set(requested);
      const accounts = selected === null ? all : all.filter((id) => selected.has(id));
      const runStart =
        resume && selected === null ? await readResumePoint(context, accounts.length) : FRESH_START;
      const running = runTests(detachFromClient(context), accounts, model, runStart, selected !== null).then(
        async (run) => {
          const failed = run.results.filter(({ success }) => !success).length;
          await recordAction(context, { tested: run.results.length, failed });
          return run;
        },
      );
      context.waitUntil(running);
      const { results } = await running;
      const success = results.filter((result) => result.success).length;
      return Response.json({ total: results.length, success, failed: results.length - success, results });
    },
  }),
  /** `POST /admin/accounts/test-all/cancel`: stops the run after the tests that are in progress. */
  adminEndpoint({
    method: "POST",
    path: "/admin/accounts/test-all/cancel",
    summary: "Cancel the test of all accounts",
    answers: jsonResponse(successSchema),
    handler: async ({ platform }) => {
      await platform.administration.cancelTest();
      return Response.json({ success: true });
    },
  }),
  /** `GET /admin/accounts/test-all/status`: progress of the latest test of all accounts. */
  adminEndpoint({
    method: "GET",
    path: "/admin/accounts/test-all/status",
    summary: "Progress of the test of all accounts",
    answers: jsonResponse(progressSchema),
    handler: async ({ platform }) => {
      const progress = await platform.administration.getTestProgress();
      if (progress === null) {
        return Response.json({ running: false, total: 0, done: 0, success: 0, failed: 0, failures: [] });
      }
      const running = progress.finished_at === 0 && platform.now() - progress.updated_at < STALE_RUN_MS;
      return Response.json({ running, ...progress });
    },
  }),
] satisfies readonly Endpoint[];
