import { createStore } from "./store.ts";

/** `expired`: the session ended; the page stays visible behind the sign-in. */
export type SessionState = "out" | "in" | "expired";

interface StoredSession {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const KEY = "polygate.session";

function readStoredSession(): StoredSession | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (typeof stored !== "object" || stored === null || !("token" in stored) || !("expiresAt" in stored))
      return null;
    const { token, expiresAt } = stored;
    return typeof token === "string" && typeof expiresAt === "number" ? { token, expiresAt } : null;
  } catch {
    return null;
  }
}

let currentSession = readStoredSession();
let timer: ReturnType<typeof setTimeout> | undefined;

const isUnexpired = (session: StoredSession | null): boolean =>
  session !== null && session.expiresAt > Date.now();

/** State of the user's session. */
export const session = createStore<SessionState>(isUnexpired(currentSession) ? "in" : "out");

function watchExpiry(): void {
  clearTimeout(timer);
  if (currentSession === null) return;
  // A timer takes at most 2^31 ms. A later expiry is detected by the next request.
  const remaining = Math.min(currentSession.expiresAt - Date.now(), 2_147_000_000);
  timer = setTimeout(() => {
    if (!isUnexpired(currentSession)) expireSession();
  }, remaining);
}
watchExpiry();

/** The administrator's token; empty if signed out. Stored for this tab only, until the tab closes. */
export function currentToken(): string {
  return currentSession?.token ?? "";
}

/** Starts a session. `lifetime` is in seconds. */
export function startSession(token: string, lifetime: number): void {
  currentSession = { token, expiresAt: Date.now() + lifetime * 1000 };
  sessionStorage.setItem(KEY, JSON.stringify(currentSession));
  watchExpiry();
  session.set("in");
}

function clearSession(): void {
  currentSession = null;
  clearTimeout(timer);
  sessionStorage.removeItem(KEY);
}

/** Expires the session: asks for a new sign-in and keeps the page. */
export function expireSession(): void {
  if (session.get() !== "in") return;
  clearSession();
  session.set("expired");
}

export function endSession(): void {
  clearSession();
  session.set("out");
}
