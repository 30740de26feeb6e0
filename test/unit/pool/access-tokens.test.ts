import { describe, expect, it } from "vitest";
import type { AccountAuth } from "../../../src/core/config/account-auth-schema.ts";
import type { SignInTicket } from "../../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../../src/core/ports/pool-configuration.ts";
import { account, LIMITS, Rig } from "./rig.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const SETTINGS: AccountAuth = {
  type: "oauth2",
  token_url: "https://token.test/",
  client_id: "client",
  client_secret: "secret",
  refresh_token: "first",
};

function configure(rig: Rig, settings: AccountAuth = SETTINGS, more: Partial<PoolAccount> = {}): void {
  const { token_url, client_id, refresh_token } = settings;
  const auth = { settings, grantDigest: `${token_url} ${client_id} ${refresh_token}` };
  const robot = account("robot", { password: "", auth, tokenType: "access_token", ...more });
  rig.pool.configure({ accounts: [robot], limits: { ...LIMITS, perAccount: 50 } });
}

function newRig(): Rig {
  const rig = new Rig();
  configure(rig);
  return rig;
}

/** The ticket that a new request gets; it holds its slot. */
function ticketOf(rig: Rig, stale?: string): SignInTicket {
  const { lease } = rig.grant();
  const answer = rig.pool.token(lease, stale);
  if (answer instanceof Promise || !("signIn" in answer)) throw new Error("no ticket");
  return answer.signIn;
}

/** Completes a renewal with a token that lasts an hour. */
function complete(rig: Rig, { ticket, credentials }: SignInTicket, token: string, next?: string): void {
  const replaced = credentials.auth?.refresh_token ?? "";
  const rotation = next === undefined ? {} : { rotation: { replaced, refreshToken: next } };
  const expiresAt = (rig.now + HOUR) / SECOND;
  rig.pool.signedIn("robot", ticket, { token, expiresAt, ...rotation });
}

const refreshTokenOf = ({ credentials }: SignInTicket) => credentials.auth?.refresh_token;

describe("an access token", () => {
  it("is renewed by one request before it expires, while all others use it", () => {
    const rig = newRig();
    complete(rig, ticketOf(rig), "one");
    rig.advance(HOUR - 301 * SECOND);
    expect(rig.grant().token).toBe("one");
    rig.advance(2 * SECOND);
    const renewal = ticketOf(rig);
    expect(renewal.current).toBe("one");
    expect(rig.grant().token).toBe("one");
    complete(rig, renewal, "two");
    expect(rig.grant().token).toBe("two");
  });

  it("is tried again half a minute after a failed renewal, and used meanwhile", () => {
    const rig = newRig();
    complete(rig, ticketOf(rig), "one");
    rig.advance(HOUR - 200 * SECOND);
    const { ticket } = ticketOf(rig);
    const failure = { message: "down", status: 503, fault: "account", retryAfter: null } as const;
    rig.pool.signInFailed("robot", ticket, { kind: "account_suspended", ...failure });
    expect(rig.grant().token).toBe("one");
    rig.advance(31 * SECOND);
    expect(ticketOf(rig).current).toBe("one");
  });

  it("of an idle account is due for renewal before it expires", () => {
    const rig = newRig();
    complete(rig, ticketOf(rig), "one");
    expect(rig.pool.tokensDueForRefresh()).toEqual([]);
    rig.advance(HOUR - 299 * SECOND);
    expect(rig.pool.tokensDueForRefresh()).toEqual(["robot"]);
  });

  it("says what it is to whoever gets the slot", () => {
    expect(newRig().grant().account).toEqual({ id: "robot", proxyId: "", tokenType: "access_token" });
  });
});

describe("a rotated refresh token", () => {
  it("is used from then on, also after a restart", () => {
    const rig = newRig();
    complete(rig, ticketOf(rig), "one", "second");
    rig.restart();
    configure(rig);
    rig.advance(2 * SECOND);
    const renewal = ticketOf(rig, "one");
    expect(refreshTokenOf(renewal)).toBe("second");
    complete(rig, renewal, "two", "third");
    expect(refreshTokenOf(ticketOf(rig, "two"))).toBe("third");
  });

  it("is stored although the request that got it has lost its slot", () => {
    const rig = newRig();
    const { lease } = rig.grant();
    const answer = rig.pool.token(lease);
    if (answer instanceof Promise || !("signIn" in answer)) throw new Error("no ticket");
    rig.pool.release(lease);
    complete(rig, answer.signIn, "one", "second");
    expect(refreshTokenOf(ticketOf(rig))).toBe("second");
  });

  it("does not replace a newer one", () => {
    const rig = newRig();
    const late = ticketOf(rig);
    complete(rig, late, "one", "second");
    complete(rig, late, "late", "another");
    expect(refreshTokenOf(ticketOf(rig, "one"))).toBe("second");
  });

  it("stays when only the scope or the client's secret changes", () => {
    const rig = newRig();
    complete(rig, ticketOf(rig), "one", "second");
    configure(rig, { ...SETTINGS, scope: "more", client_secret: "new" });
    const renewal = ticketOf(rig);
    expect(refreshTokenOf(renewal)).toBe("second");
    expect(renewal.credentials.auth?.scope).toBe("more");
  });

  it.each([
    ["refresh token", { ...SETTINGS, refresh_token: "new" }, {}, "new"],
    ["token endpoint", { ...SETTINGS, token_url: "https://other.test/" }, {}, "first"],
    ["provider", SETTINGS, { provider: "other" }, "first"],
  ] as const)("is discarded with another %s", (_, settings, more, expected) => {
    const rig = newRig();
    complete(rig, ticketOf(rig), "one", "second");
    configure(rig, settings, more);
    const { lease, token } = rig.grant({ provider: "provider" in more ? more.provider : "" });
    expect(token).toBeNull();
    const answer = rig.pool.token(lease);
    if (answer instanceof Promise || !("signIn" in answer)) throw new Error("no ticket");
    expect(refreshTokenOf(answer.signIn)).toBe(expected);
  });
});
