import type { ConfigSnapshot, ConfigurationStore } from "../../../core/config/snapshot.ts";
import type {
  AccountPoolClient,
  AcquireGrant,
  AcquireRequest,
  LeasedAccount,
} from "../../../core/ports/accounts.ts";
import type { PoolAccount } from "../../../core/ports/pool-configuration.ts";
import { buildPoolConfiguration, type PoolDeployment } from "../../../pool/configuration.ts";
import { InProcessAccountPool } from "../../../pool/in-process-pool.ts";
import { AccountPool } from "../../../pool/pool.ts";
import { noopPoolStore } from "../../../pool/storage/noop-pool-store.ts";
import { IsolateReporter, type SendReport } from "./isolate-reporter.ts";
import { LocalLease, type LocalLeaseContext } from "./local-lease.ts";
import type { HolderClock } from "./pool-stub.ts";
import { TokenCache } from "./token-cache.ts";

/** The pool of a deployment that takes reports of its isolates. */
export interface ReportingAccountPool extends AccountPoolClient {
  readonly sendReport: SendReport;
}

export interface LocalSelectionOptions {
  /** The account pool of the deployment. */
  readonly pool: ReportingAccountPool;
  readonly configuration: Pick<ConfigurationStore, "read" | "atLeast">;
  readonly deployment: PoolDeployment;
  readonly clock: HolderClock;
}

/**
 * Selects accounts without a limit in the memory of an isolate, by the pool's own rules. The deployment's pool
 * decides on all else: accounts that have failed, providers that are down, requests that would have to wait.
 */
export class LocalSelection {
  readonly reporter: IsolateReporter;
  readonly #deployment: PoolDeployment;
  readonly #leaseContext: LocalLeaseContext;
  readonly #rules: AccountPool;
  readonly #pool: InProcessAccountPool;
  /** Version of the configuration that the rules have, with its accounts. */
  #version = 0;
  #accounts: readonly PoolAccount[] = [];

  constructor({ pool, configuration, deployment, clock }: LocalSelectionOptions) {
    this.#deployment = deployment;
    // No timer of this pool may outlive the request that set it, and none is needed: nothing waits here.
    this.#rules = new AccountPool({
      store: noopPoolStore,
      holdersShareProcess: true,
      probeWaitMs: 0,
      now: Date.now,
      monotonicNow: clock.now,
      setTimer: () => () => undefined,
      wakeAt: () => undefined,
    });
    this.#pool = new InProcessAccountPool(this.#rules);
    this.reporter = new IsolateReporter(async (report) => {
      const answers = await pool.sendReport(report);
      const version = Math.max(0, ...answers.map((answer) => answer?.configVersion ?? 0));
      // As with a grant: if that is the version of the cache, the cache counts as just read.
      if (version > 0) await configuration.atLeast(version).catch(() => undefined);
      return answers;
    }, clock);
    this.#leaseContext = {
      pool,
      reporter: this.reporter,
      tokens: new TokenCache(Date.now),
      hasOtherHealthyAccount: (account) => this.#hasOtherHealthyAccount(account),
    };
  }

  /**
   * Selects an account. Null: the deployment's pool decides.
   *
   * @param providers those whose accounts have no limit
   */
  async acquire(
    request: AcquireRequest,
    snapshot: ConfigSnapshot,
    providers: ReadonlySet<string>,
    signal: AbortSignal | undefined,
  ): Promise<AcquireGrant | null> {
    const { provider = "", exclude = [], model } = request;
    if (!(await this.#configure(snapshot, providers))) return null;
    // Once after the isolate has begun or idled; under load the answers to reports come behind the answers to callers.
    if (!this.reporter.isInformed) await this.reporter.flush();
    if (!this.reporter.isInformed || this.reporter.isDown(provider, model)) {
      this.reporter.refresh();
      return null;
    }
    const resting = this.reporter.restingAccounts;
    const acquired = await this.#pool.acquire(
      { ...request, waitMs: 0, ...(resting.length === 0 ? {} : { exclude: [...exclude, ...resting] }) },
      signal,
    );
    if (!("lease" in acquired)) {
      this.reporter.refresh();
      return null;
    }
    const { lease, isBranch } = acquired;
    return {
      lease: new LocalLease(lease, request, this.#leaseContext),
      ...(isBranch === undefined ? {} : { isBranch }),
    };
  }

  /** Applies a configuration. Returns false if a newer one is applied already. */
  async #configure({ config, version }: ConfigSnapshot, providers: ReadonlySet<string>): Promise<boolean> {
    if (this.#version >= version) return this.#version === version;
    const configuration = await buildPoolConfiguration(
      {
        ...config,
        accounts: config.accounts.filter(({ provider = "" }) => providers.has(provider)),
        providers: config.providers.filter(({ id }) => providers.has(id)),
      },
      this.#deployment,
      version,
    );
    // Another request may have been faster. It must not be awaited, because it may die.
    if (this.#version < version && this.#rules.configure(configuration)) {
      this.#version = version;
      this.#accounts = configuration.accounts;
      this.#leaseContext.tokens.clear();
    }
    return this.#version === version;
  }

  #hasOtherHealthyAccount({ id, provider }: LeasedAccount): boolean {
    return this.#accounts.some(
      (account) =>
        account.provider === provider &&
        account.id !== id &&
        account.disabled !== true &&
        !this.reporter.isResting(account.id),
    );
  }
}
