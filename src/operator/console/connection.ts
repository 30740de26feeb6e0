import { createStore } from "./store.ts";

/** State of the connection to the gateway. */
export interface Connection {
  readonly lost: boolean;
  /** Time of the gateway's last response in Unix milliseconds; 0: never. */
  readonly heardAt: number;
}

/** Time between two attempts to reach an unreachable gateway. */
const RETRY_MS = 3_000;

export const connection = createStore<Connection>({ lost: false, heardAt: 0 });

/** Records that the gateway responded. */
export function reportReachable(): void {
  const { lost, heardAt } = connection.get();
  const now = Date.now();
  // Limit updates of the store: most responses bring no change.
  if (lost || now - heardAt > 500) connection.set({ lost: false, heardAt: now });
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Records that the gateway is unreachable, and retries until it responds. */
export function reportUnreachable(): void {
  if (!connection.get().lost) connection.set({ ...connection.get(), lost: true });
  clearTimeout(timer);
  timer = setTimeout(checkConnection, RETRY_MS);
}

/** Sends a health check to the gateway. */
export async function checkConnection(): Promise<void> {
  try {
    await fetch("/healthz", { cache: "no-store" });
    reportReachable();
  } catch {
    reportUnreachable();
  }
}
