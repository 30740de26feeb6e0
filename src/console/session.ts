import { createStore } from "./store.ts";

/** `expired`: the session ended; the page stays visible behind the sign-in. */
export type SessionState = "out" | "in" | "expired";

interface Kept {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const KEY = "polygate.session";

function stored(): Kept | null {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (typeof kept !== "object" || kept === null || !("token" in kept) || !("expiresAt" in kept))
      return null;
    const { token, expiresAt } = kept;
    return typeof token === "string" && typeof expiresAt === "number" ? { token, expiresAt } : null;
  } catch {
    return null;
  }
}

let kept = stored();
let timer: ReturnType<typeof setTimeout> | undefined;

const alive = (session: Kept | null): boolean => session !== null && session.expiresAt > Date.now();

/** State of the user's session. */
export const session = createStore<SessionState>(alive(kept) ? "in" : "out");

function watchExpiry(): void {
  clearTimeout(timer);
  if (kept === null) return;
  // A timer takes at most 2^31 ms. A later expiry is detected by the next request.
  const left = Math.min(kept.expiresAt - Date.now(), 2_147_000_000);
  timer = setTimeout(() => {
    if (!alive(kept)) expireSession();
  }, left);
}
watchExpiry();

/** The administrator's token; empty if signed out. Stored for this tab only, until the tab closes. */
export function currentToken(): string {
  return kept?.token ?? "";
}

/** Starts a session. `lifetime` is in seconds. */
export function startSession(token: string, lifetime: number): void {
  kept = { token, expiresAt: Date.now() + lifetime * 1000 };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
  watchExpiry();
  session.set("in");
}

function forget(): void {
  kept = null;
  clearTimeout(timer);
  sessionStorage.removeItem(KEY);
}

/** Expires the session: asks for a new sign-in and keeps the page. */
export function expireSession(): void {
  if (session.get() !== "in") return;
  forget();
  session.set("expired");
}

export function endSession(): void {
  forget();
  session.set("out");
}
