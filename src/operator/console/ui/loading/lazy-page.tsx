import type { ComponentType } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { words } from "../words.ts";
import { LoadState } from "./load-state.tsx";

type PageView = ComponentType<{ readonly detail: string }>;

/**
 * Creates a page that loads its code when a user first opens it, so that the sign-in and the first page do not wait for
 * it. If the code cannot be loaded, for example because the gateway was updated meanwhile, the page says so.
 */
export function lazyPage(load: () => Promise<PageView>): PageView {
  let loaded: PageView | null = null;
  return function LazyPage({ detail }) {
    const [View, setView] = useState<PageView | null>(() => loaded);
    const [error, setError] = useState("");
    const open = useCallback(async () => {
      setError("");
      try {
        loaded ??= await load();
        const view = loaded;
        setView(() => view);
      } catch {
        setError(words.pageNotLoaded);
      }
    }, []);
    useEffect(() => {
      if (View === null) void open();
    }, [View, open]);
    return View === null ? <LoadState data={View} error={error} reload={open} /> : <View detail={detail} />;
  };
}
