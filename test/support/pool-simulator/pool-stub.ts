import type { AccountFailure, QuotaWindow, SignInResult } from "../../../src/core/ports/accounts.ts";
import type { Grant } from "../../../src/pool/queue/grant.ts";
import { Waiter } from "../../../src/pool/queue/waiter.ts";
import type { LeaseStub, ShardStub } from "../../../src/runtime/cloudflare/pool-client/pool-stub.ts";
import type { Caller, Network } from "./network.ts";
import { ObjectReset, type PoolObject } from "./pool-object.ts";

/** A pool object as an isolate sees it through RPC (`durable-objects/account-pool.ts`). */
export function createPoolStub(object: PoolObject, network: Network, caller?: Caller): ShardStub {
  const call = <T>(method: keyof ShardStub, work: () => T) => network.call(object, { method }, work, caller);

  /** The stub of a lease, which is bound to its object's start, and ends the lease when it is disposed of. */
  const leaseReply = (lease: string, account: string) => {
    const { restarts: boundTo } = object;
    const send = <T>(work: () => T) => network.call(object, { method: "acquire", boundTo }, work, caller);
    const stub: LeaseStub = {
      token: (stale) => send(() => object.pool.token(lease, stale)),
      signedIn: (ticket: string, signedIn: SignInResult) =>
        send(() => object.pool.signedIn(account, ticket, signedIn)),
      signInFailed: (ticket: string, failure: AccountFailure) =>
        send(() => object.pool.signInFailed(account, ticket, failure)),
      succeeded: () => send(() => object.pool.succeeded(lease)),
      failed: (failure: AccountFailure) => send(() => object.pool.failed(lease, failure)),
      quota: (windows: readonly QuotaWindow[]) => send(() => object.pool.recordQuota(lease, windows)),
      [Symbol.dispose]: () => undefined,
    };
    const dispose = () => network.notify(object, () => void object.pool.release(lease), caller);
    return { lease: stub, [Symbol.dispose]: dispose };
  };
  const grantReply = (granted: Grant) => ({ granted, ...leaseReply(granted.lease, granted.account.id) });

  const queuedReply = (waiter: Waiter) => {
    const { restarts: boundTo, untilRestart } = object;
    const wait = () =>
      network.call(
        object,
        { method: "acquire", boundTo, isPipelined: true },
        async () => {
          const settled = await Promise.race([waiter.settled, untilRestart]);
          if (settled === null) throw new ObjectReset("the object was reset");
          return "granted" in settled ? grantReply(settled.granted) : settled;
        },
        caller,
      );
    const leave = () => {
      if (waiter.outcome === null) waiter.cancel();
    };
    return { place: { [Symbol.dispose]: leave }, pending: { wait }, [Symbol.dispose]: () => undefined };
  };

  return {
    acquire: (request, settled) =>
      network.call(
        object,
        { method: "acquire", request },
        () => {
          for (const [use, spent] of settled) object.pool.limitedRequests.settle(use, spent);
          const outcome = object.pool.acquire(request);
          if (outcome instanceof Waiter) return queuedReply(outcome);
          return "granted" in outcome ? grantReply(outcome.granted) : outcome;
        },
        caller,
      ),
    beat: (isolate, leases, known) => call("beat", () => object.pool.beat(isolate, leases, known)),
    resume: (lease, account, holder, isolate) =>
      call("resume", () => {
        const name = object.pool.resumeLease(lease, account, holder, isolate);
        return name === null ? null : { name, ...leaseReply(name, account) };
      }),
    // A copy, as RPC makes it.
    report: (report) => call("report", () => object.pool.report(structuredClone(report))),
    count: (use) => call("count", () => object.pool.limitedRequests.count(use)),
    settleUses: (settled) =>
      call("settleUses", () => {
        for (const [use, spent] of settled) object.pool.limitedRequests.settle(use, spent);
      }),
    listSubjectUsage: (key) =>
      call("listSubjectUsage", () => object.pool.limitedRequests.listSubjectUses(key)),
    status: (most) => call("status", () => object.pool.status(most)),
    health: (ids) => call("health", () => object.pool.health(ids)),
    setTestStatus: (id, status) =>
      call("setTestStatus", () => {
        object.pool.setTestStatus(id, status);
      }),
    tokensDueForRefresh: () => call("tokensDueForRefresh", () => object.pool.tokensDueForRefresh()),
    configure: (configuration) =>
      call("configure", () => {
        object.pool.configure(configuration);
      }),
    shardStatus: (most) => call("shardStatus", () => object.pool.shardStatus(most)),
    hasHealthyAccount: (provider) => call("hasHealthyAccount", () => object.pool.hasHealthyAccount(provider)),
    reserveUse: (use, settled) =>
      call("reserveUse", () => {
        for (const [id, spent] of settled) object.pool.limitedRequests.settle(id, spent);
        return object.pool.limitedRequests.reserveRemote(use);
      }),
    startUse: (use) => call("startUse", () => object.pool.limitedRequests.beginRemote(use)),
    renewUse: (use) => call("renewUse", () => object.pool.limitedRequests.keepAlive(use)),
    cancelUse: (use, isNew) =>
      call("cancelUse", () => object.pool.limitedRequests.releaseUnserved(use, isNew)),
  };
}
