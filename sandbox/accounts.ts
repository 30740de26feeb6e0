import type { KeyValueStore } from "./shelves.ts";

/** The account that a token belongs to. */
export interface Account {
  readonly id: string;
  readonly email: string | null;
  readonly mobile: string | null;
}

/** Reason why a token or a sign-in was rejected. The codes are those of the provider protocol. */
export interface AuthFailure {
  readonly refused: "invalid_credentials" | "token_expired" | "account_suspended";
}

const PASSWORD = "sandbox";
const TOKEN_PREFIX = "sandbox-token-";

/**
 * Sign-in and tokens. A token contains its account and expiry (`sandbox.<login>.<serial>.<expiry>`), so it survives a
 * restart. Tokens are invalid if their serial is at most the account's revoked serial. A token `sandbox-token-<anything>`
 * is a separate account and never expires.
 */
export class Accounts {
  readonly #counters: KeyValueStore<number>;
  readonly #lifetimeSeconds: number;

  constructor(counters: KeyValueStore<number>, lifetimeSeconds: number) {
    this.#counters = counters;
    this.#lifetimeSeconds = lifetimeSeconds;
  }

  /** `login` is an e-mail address or a mobile number; times are Unix seconds. */
  signIn(login: string, password: string, now: number): { token: string; expires_at: number } | AuthFailure {
    const known = /^[^@\s]+@sandbox\.test$/i.test(login) || /^\+?\d{6,15}$/.test(login);
    if (!known || password !== PASSWORD) return { refused: "invalid_credentials" };
    const name = login.toLowerCase();
    if (name.startsWith("suspended")) return { refused: "account_suspended" };
    const serial = (this.#counters.get(`signins:${name}`) ?? 0) + 1;
    this.#counters.put(`signins:${name}`, serial);
    const expires_at = now + this.#lifetimeSeconds;
    return { token: `sandbox.${toHex(name)}.${serial}.${expires_at}`, expires_at };
  }

  /** Returns the account of a token; `now` is in Unix seconds. */
  authenticate(token: string | null, now: number): Account | AuthFailure {
    if (token?.startsWith(TOKEN_PREFIX)) {
      const id = token.slice(TOKEN_PREFIX.length);
      if (id.startsWith("suspended")) return { refused: "account_suspended" };
      if (id.startsWith("expired") || id === "") return { refused: "token_expired" };
      return { id: `token-${id}`, email: null, mobile: null };
    }
    const [prefix, hex, serial, expiry, ...extra] = (token ?? "").split(".");
    const name = prefix === "sandbox" && extra.length === 0 ? fromHex(hex ?? "") : "";
    if (name === "" || !(Number(expiry) > now)) return { refused: "token_expired" };
    if (!(Number(serial) > (this.#counters.get(`revoked:${name}`) ?? 0))) return { refused: "token_expired" };
    return name.includes("@")
      ? { id: name, email: name, mobile: null }
      : { id: name, email: null, mobile: name };
  }

  /** Invalidates all tokens that were issued to the account so far. */
  revoke(account: string): void {
    const given = this.#counters.get(`signins:${account}`);
    if (given !== undefined) this.#counters.put(`revoked:${account}`, given);
  }

  /** Number of sign-ins by login name. */
  signIns(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const [key, count] of this.#counters.entries()) {
      if (key.startsWith("signins:")) counts[key.slice("signins:".length)] = count;
    }
    return counts;
  }
}

const toHex = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function fromHex(hex: string): string {
  const pairs = hex.match(/[0-9a-f]{2}/g) ?? [];
  return new TextDecoder().decode(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)));
}
