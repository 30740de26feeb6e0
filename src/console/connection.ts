import { createStore } from "./store.ts";

/** Whether the gateway can be reached. */
export interface Connection {
  readonly lost: boolean;
  /** When the gateway was heard last, Unix milliseconds; 0: never. */
  readonly heardAt: number;
}

/** How often it is tried whether a lost gateway is back. */
const RETRY_MS = 3_000;

export const connection = createStore<Connection>({ lost: false, heardAt: 0 });

/** The gateway has answered. */
export function heard(): void {
  const { lost, heardAt } = connection.get();
  const now = Date.now();
  // Most of the many answers are no news.
  if (lost || now - heardAt > 500) connection.set({ lost: false, heardAt: now });
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** The gateway could not be reached. It is asked now and then until it is. */
export function unheard(): void {
  if (!connection.get().lost) connection.set({ ...connection.get(), lost: true });
  clearTimeout(timer);
  timer = setTimeout(tryAgain, RETRY_MS);
}

/** Asks the gateway whether it is there. */
export async function tryAgain(): Promise<void> {
  try {
    await fetch("/healthz", { cache: "no-store" });
    heard();
  } catch {
    unheard();
  }
}
