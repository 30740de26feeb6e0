import { createStore } from "./store.ts";

/** `expired`: the session ended; the page stays visible behind the sign-in. */
export type SessionState = "out" | "in" | "expired";

interface StoredSession {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const KEY = "polygate.session";

function parseSession(stored: unknown): StoredSession | null {
  if (typeof stored !== "object" || stored === null || !("token" in stored) || !("expiresAt" in stored))
    return null;
  const { token, expiresAt } = stored;
  return typeof token === "string" && typeof expiresAt === "number" ? { token, expiresAt } : null;
}

function readStoredSession(): StoredSession | null {
  try {
    return parseSession(JSON.parse(sessionStorage.getItem(KEY) ?? "null"));
  } catch {
    return null;
  }
}

/**
 * Shares the session with the other tabs: `ask` asks them for it, `end` signs all out, and a session is used by those that
 * have none. Only pages of this origin receive messages, and nothing is stored beyond the tabs: the last one forgets
 * the token.
 */
const otherTabs = new BroadcastChannel(KEY);

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

/** The administrator's token; empty if signed out. Each tab stores it until it closes. */
export function currentToken(): string {
  return currentSession?.token ?? "";
}

function adoptSession(adopted: StoredSession): void {
  currentSession = adopted;
  sessionStorage.setItem(KEY, JSON.stringify(currentSession));
  watchExpiry();
  session.set("in");
}

/** Starts a session in this tab and in all others that have none. `lifetime` is in seconds. */
export function startSession(token: string, lifetime: number): void {
  const started = { token, expiresAt: Date.now() + lifetime * 1000 };
  adoptSession(started);
  otherTabs.postMessage(started);
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

function leave(): void {
  clearSession();
  session.set("out");
}

/** Signs out in all tabs. */
export function endSession(): void {
  leave();
  otherTabs.postMessage("end");
}

otherTabs.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (data === "end") return leave();
  if (data === "ask") {
    if (session.get() === "in") otherTabs.postMessage(currentSession);
    return;
  }
  const offered = parseSession(data);
  if (offered !== null && isUnexpired(offered) && session.get() !== "in") adoptSession(offered);
});
if (session.get() === "out") otherTabs.postMessage("ask");
