import type { Config } from "../../../core/config/schema.ts";
import type { AccountHealth, QueueStatus } from "../../../core/ports/account-status.ts";
import {
  type AccountPoolClient,
  type AcquireGrant,
  type AcquireRequest,
  type AcquireResult,
  ANY_PROVIDER,
  type CountResult,
} from "../../../core/ports/accounts.ts";
import type { PoolConfiguration } from "../../../core/ports/pool-configuration.ts";
import type { LimitedUse, SpentAmounts, SubjectUsage } from "../../../core/ports/subject-limits.ts";
import { hasNoLimit } from "../../../pool/configuration.ts";
import type { LocalSelection, LocalSelectionOptions } from "./local-selection.ts";

/**
 * The account pool as an isolate sees it: accounts without a limit need no slot, so the isolate selects one of them itself
 * ({@link LocalSelection}). The deployment's pool decides on everything else, also where a key has limits or there is a
 * global limit.
 */
export class LocalAccounts implements AccountPoolClient {
  readonly #options: LocalSelectionOptions;
  /** Loaded when a provider has no limit. */
  #selection: LocalSelection | null = null;
  /** Version of the configuration that was looked at last, with its providers without a limit. */
  #seenVersion = 0;
  #providers: ReadonlySet<string> = new Set();

  constructor(options: LocalSelectionOptions) {
    this.#options = options;
  }

  get #pool(): AccountPoolClient {
    return this.#options.pool;
  }

  async acquire(request: AcquireRequest, signal?: AbortSignal): Promise<AcquireResult> {
    return (await this.#acquireHere(request, signal)) ?? this.#pool.acquire(request, signal);
  }

  /** Selects an account in this isolate. Null: the deployment's pool decides. */
  async #acquireHere(request: AcquireRequest, signal: AbortSignal | undefined): Promise<AcquireGrant | null> {
    const { provider, use, disabledToo, configVersion } = request;
    if (provider === undefined || use !== undefined || disabledToo === true) return null;
    const { configuration, clock } = this.#options;
    const snapshot = await configuration.read(clock.waitUntil);
    const { version } = snapshot;
    // The account's token must belong to the endpoint that the request was prepared for.
    if (version !== configVersion) return null;
    if (this.#seenVersion !== version) {
      this.#providers = listUnlimitedProviders(snapshot.config);
      this.#seenVersion = version;
    }
    const providers = this.#providers;
    if (!(provider === ANY_PROVIDER ? providers.size > 0 : providers.has(provider))) return null;
    if (this.#selection === null) {
      const { LocalSelection } = await import("./local-selection.ts");
      this.#selection ??= new LocalSelection(this.#options);
    }
    return this.#selection.acquire(request, snapshot, providers, signal);
  }

  countRequest(use: LimitedUse): Promise<CountResult> {
    return this.#pool.countRequest(use);
  }

  settleUsage(use: LimitedUse, spent: SpentAmounts): Promise<void> {
    return this.#pool.settleUsage(use, spent);
  }

  listSubjectUsage(subject?: string): Promise<SubjectUsage[]> {
    return this.#pool.listSubjectUsage(subject);
  }

  async getStatus(maxEntries?: number): Promise<QueueStatus> {
    await this.#selection?.reporter.flush();
    return this.#pool.getStatus(maxEntries);
  }

  async getHealth(ids?: readonly string[]): Promise<AccountHealth[]> {
    await this.#selection?.reporter.flush();
    return this.#pool.getHealth(ids);
  }

  setTestStatus(id: string, status: string): Promise<void> {
    return this.#pool.setTestStatus(id, status);
  }

  listTokensDueForRefresh(): Promise<string[]> {
    return this.#pool.listTokensDueForRefresh();
  }

  configure(configuration: PoolConfiguration): Promise<void> {
    return this.#pool.configure(configuration);
  }
}

/** The providers whose accounts have no limit. With a global limit there are none. */
function listUnlimitedProviders({ providers, runtime }: Config): ReadonlySet<string> {
  if (runtime.global_max_inflight > 0) return new Set();
  return new Set(providers.filter((entry) => entry.enabled && hasNoLimit(entry)).map(({ id }) => id));
}
