import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, toMessage } from "../../api/client.ts";
import { connection } from "../../connection.ts";
import { session } from "../../session.ts";
import { formatTime } from "../format.ts";
import { words } from "../words.ts";

/** Loaded data. After a failure the last data stays, and `error` says when it was loaded. */
export interface Loaded<T> {
  readonly data: T | null;
  readonly error: string;
  readonly loading: boolean;
  reload(): Promise<void>;
  /** Replaces the data with the response of an edit. */
  replace(data: T): void;
}

/** Says when the displayed data was loaded. `at`: Unix milliseconds, 0 if nothing is displayed. */
function formatStaleNote(at: number): string {
  return at === 0 ? "" : words.showingDataFrom(formatTime(at));
}

/**
 * Loads data when the component mounts, when `key` changes, on `reload`, after a new sign-in, and every `intervalMs`
 * milliseconds while the page is visible (0: never).
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key = "", intervalMs = 0): Loaded<T> {
  const [data, setData] = useState<T | null>(null);
  const [error, setError] = useState("");
  const [loading, setLoading] = useState(true);
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | null>(null);
  const loadedAt = useRef(0);

  const reload = useCallback(async () => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setLoading(true);
    try {
      const next = await latest.current(controller.signal);
      if (controller.signal.aborted) return;
      loadedAt.current = Date.now();
      setData(() => next);
      setError("");
    } catch (thrown) {
      if (controller.signal.aborted) return;
      const hasData = loadedAt.current > 0;
      // The frame already shows a lost connection on every page.
      const isAlreadyShown = hasData && thrown instanceof ApiError && thrown.status === 0;
      setError(isAlreadyShown ? "" : `${toMessage(thrown)}${formatStaleNote(loadedAt.current)}`);
    }
    setLoading(false);
  }, []);

  useEffect(() => {
    void key;
    void reload();
    return () => running.current?.abort();
  }, [key, reload]);

  useEffect(() => session.watch((state) => state === "in" && void reload()), [reload]);

  useEffect(() => {
    let { lost } = connection.get();
    return connection.watch((now) => {
      if (lost && !now.lost && session.get() === "in") void reload();
      lost = now.lost;
    });
  }, [reload]);

  useEffect(() => {
    if (intervalMs === 0) return;
    let timer: ReturnType<typeof setTimeout>;
    const tick = async () => {
      if (document.visibilityState === "visible" && session.get() === "in") await reload();
      timer = setTimeout(tick, intervalMs);
    };
    timer = setTimeout(tick, intervalMs);
    return () => clearTimeout(timer);
  }, [intervalMs, reload]);

  const replace = useCallback((next: T) => setData(() => next), []);
  return { data, error, loading, reload, replace };
}
