import { DurableObject } from "cloudflare:workers";
import { FORGET_MS, type LoginFailures, LoginGuard } from "../src/core/auth/login-guard.ts";
import type { LoginDecision, ModelSyncResult, TestAllProgress } from "../src/core/ports/administration.ts";
import type { Env } from "../src/runtime/cloudflare/env.ts";

const FAILURES = "failures";
const PROGRESS = "progress";
const MODEL_SYNC_RESULTS = "asks";
const REVOKED = "revoked";
/** Start time of the test run to be cancelled. */
const CANCELLED = "cancelled";

/**
 * State shared by the administrators' requests: one object per address that tried to sign in, one per token, one for
 * the test of all accounts, and one for the results of the model-list requests to providers. The rules for login
 * attempts are in `src/core/auth/login-guard.ts`.
 */
export class Administration extends DurableObject<Env> {
  #guard: LoginGuard;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#guard = new LoginGuard(ctx.storage.kv.get<LoginFailures>(FAILURES) ?? null);
  }

  /** See `AdministrationState.recordLoginAttempt`. */
  async attempt(free?: number): Promise<LoginDecision> {
    const decision = this.#guard.attempt(Date.now(), free);
    if (decision.allowed) {
      this.ctx.storage.kv.put(FAILURES, this.#guard.failures);
      await this.ctx.storage.setAlarm(Date.now() + FORGET_MS);
    }
    return decision;
  }

  /** See `AdministrationState.recordLoginSuccess`. */
  async succeeded(): Promise<void> {
    this.#guard.succeeded();
    if (this.#guard.failures === null) await this.ctx.storage.deleteAll();
    else this.ctx.storage.kv.put(FAILURES, this.#guard.failures);
  }

  progress(): TestAllProgress | null {
    return this.ctx.storage.kv.get<TestAllProgress>(PROGRESS) ?? null;
  }

  /** See `AdministrationState.setTestProgress`. */
  setProgress(progress: TestAllProgress): boolean {
    this.ctx.storage.kv.put(PROGRESS, progress);
    return this.ctx.storage.kv.get<number>(CANCELLED) === progress.started_at;
  }

  cancel(): void {
    this.ctx.storage.kv.put(CANCELLED, this.progress()?.started_at ?? 0);
  }

  /** See `AdministrationState.getModelSyncResults`. */
  asks(): Readonly<Record<string, ModelSyncResult>> {
    return this.ctx.storage.kv.get<Readonly<Record<string, ModelSyncResult>>>(MODEL_SYNC_RESULTS) ?? {};
  }

  setAsks(results: Readonly<Record<string, ModelSyncResult>>): void {
    this.ctx.storage.kv.put(MODEL_SYNC_RESULTS, results);
  }

  /** See `AdministrationState.revokeToken`. */
  async revokeToken(until: number): Promise<void> {
    this.ctx.storage.kv.put(REVOKED, true);
    await this.ctx.storage.setAlarm(until);
  }

  /** See `AdministrationState.isTokenRevoked`. */
  isTokenRevoked(): boolean {
    return this.ctx.storage.kv.get<boolean>(REVOKED) === true;
  }

  /** Deletes the state of an address without recent attempts, and of a token that has expired. */
  override async alarm(): Promise<void> {
    this.#guard = new LoginGuard();
    await this.ctx.storage.deleteAll();
  }
}
