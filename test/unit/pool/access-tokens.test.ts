import { describe, expect, it } from "vitest";
import type { AccountAuth } from "../../../src/core/config/schemas/account-auth-schema.ts";
import type { SignInTicket } from "../../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../../src/core/ports/pool-configuration.ts";
import { account, LIMITS } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const SETTINGS: AccountAuth = {
  type: "oauth2",
  token_url: "https://token.test/",
  client_id: "client",
  client_secret: "secret",
  refresh_token: "first",
};

function configure(
  simulator: PoolSimulator,
  settings: AccountAuth = SETTINGS,
  more: Partial<PoolAccount> = {},
): void {
  const { token_url, client_id, refresh_token } = settings;
  const auth = { settings, grantDigest: `${token_url} ${client_id} ${refresh_token}` };
  const robot = account("robot", { password: "", auth, tokenType: "access_token", ...more });
  simulator.pool.configure({ accounts: [robot], limits: { ...LIMITS, perAccount: 50 } });
}

function newRig(): PoolSimulator {
  const simulator = new PoolSimulator();
  configure(simulator);
  return simulator;
}

/** The ticket that a new request gets; it holds its slot. */
function ticketOf(simulator: PoolSimulator, stale?: string): SignInTicket {
  const { lease } = simulator.grant();
  const answer = simulator.pool.token(lease, stale);
  if (answer instanceof Promise || !("signIn" in answer)) throw new Error("no ticket");
  return answer.signIn;
}

/** Completes a renewal with a token that lasts an hour. */
function complete(
  simulator: PoolSimulator,
  { ticket, credentials }: SignInTicket,
  token: string,
  next?: string,
): void {
  const replaced = credentials.auth?.refresh_token ?? "";
  const rotation = next === undefined ? {} : { rotation: { replaced, refreshToken: next } };
  const expiresAt = (simulator.now + HOUR) / SECOND;
  simulator.pool.signedIn("robot", ticket, { token, expiresAt, ...rotation });
}

const refreshTokenOf = ({ credentials }: SignInTicket) => credentials.auth?.refresh_token;

describe("an access token", () => {
  it("is renewed by one request before it expires, while all others use it", () => {
    const simulator = newRig();
    complete(simulator, ticketOf(simulator), "one");
    simulator.advance(HOUR - 301 * SECOND);
    expect(simulator.grant().token).toBe("one");
    simulator.advance(2 * SECOND);
    const renewal = ticketOf(simulator);
    expect(renewal.current).toBe("one");
    expect(simulator.grant().token).toBe("one");
    complete(simulator, renewal, "two");
    expect(simulator.grant().token).toBe("two");
  });

  it("is tried again half a minute after a failed renewal, and used meanwhile", () => {
    const simulator = newRig();
    complete(simulator, ticketOf(simulator), "one");
    simulator.advance(HOUR - 200 * SECOND);
    const { ticket } = ticketOf(simulator);
    const failure = { message: "down", status: 503, fault: "account", retryAfter: null } as const;
    simulator.pool.signInFailed("robot", ticket, { kind: "account_suspended", ...failure });
    expect(simulator.grant().token).toBe("one");
    simulator.advance(31 * SECOND);
    expect(ticketOf(simulator).current).toBe("one");
  });

  it("of an idle account is due for renewal before it expires", () => {
    const simulator = newRig();
    complete(simulator, ticketOf(simulator), "one");
    expect(simulator.pool.tokensDueForRefresh()).toEqual([]);
    simulator.advance(HOUR - 299 * SECOND);
    expect(simulator.pool.tokensDueForRefresh()).toEqual(["robot"]);
  });

  it("has its type in the lease", () => {
    expect(newRig().grant().account).toEqual({ id: "robot", proxyId: "", tokenType: "access_token" });
  });
});

describe("a rotated refresh token", () => {
  it("is used from then on, also after a restart", () => {
    const simulator = newRig();
    complete(simulator, ticketOf(simulator), "one", "second");
    simulator.restart();
    configure(simulator);
    simulator.advance(2 * SECOND);
    const renewal = ticketOf(simulator, "one");
    expect(refreshTokenOf(renewal)).toBe("second");
    complete(simulator, renewal, "two", "third");
    expect(refreshTokenOf(ticketOf(simulator, "two"))).toBe("third");
  });

  it("is stored although the request that got it has lost its slot", () => {
    const simulator = newRig();
    const { lease } = simulator.grant();
    const answer = simulator.pool.token(lease);
    if (answer instanceof Promise || !("signIn" in answer)) throw new Error("no ticket");
    simulator.pool.release(lease);
    complete(simulator, answer.signIn, "one", "second");
    expect(refreshTokenOf(ticketOf(simulator))).toBe("second");
  });

  it("does not replace a newer one", () => {
    const simulator = newRig();
    const late = ticketOf(simulator);
    complete(simulator, late, "one", "second");
    complete(simulator, late, "late", "another");
    expect(refreshTokenOf(ticketOf(simulator, "one"))).toBe("second");
  });

  it("is kept if only the scope or the client secret changes", () => {
    const simulator = newRig();
    complete(simulator, ticketOf(simulator), "one", "second");
    configure(simulator, { ...SETTINGS, scope: "more", client_secret: "new" });
    const renewal = ticketOf(simulator);
    expect(refreshTokenOf(renewal)).toBe("second");
    expect(renewal.credentials.auth?.scope).toBe("more");
  });

  it.each([
    ["refresh token", { ...SETTINGS, refresh_token: "new" }, {}, "new"],
    ["token endpoint", { ...SETTINGS, token_url: "https://other.test/" }, {}, "first"],
    ["provider", SETTINGS, { provider: "other" }, "first"],
  ] as const)("is discarded with another %s", (_, settings, more, expected) => {
    const simulator = newRig();
    complete(simulator, ticketOf(simulator), "one", "second");
    configure(simulator, settings, more);
    const { lease, token } = simulator.grant({ provider: "provider" in more ? more.provider : "" });
    expect(token).toBeNull();
    const answer = simulator.pool.token(lease);
    if (answer instanceof Promise || !("signIn" in answer)) throw new Error("no ticket");
    expect(refreshTokenOf(answer.signIn)).toBe(expected);
  });
});
