import { useCallback, useState } from "preact/hooks";

/** The selected items of a list, by identifier. */
export interface Selection {
  readonly chosen: ReadonlySet<string>;
  choose(ids: readonly string[], on: boolean): void;
  clear(): void;
}

const NONE: ReadonlySet<string> = new Set();

export function useSelection(): Selection {
  const [chosen, setChosen] = useState(NONE);
  const choose = useCallback((ids: readonly string[], on: boolean) => {
    setChosen((before) => {
      const next = new Set(before);
      for (const id of ids) {
        if (on) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  }, []);
  const clear = useCallback(() => setChosen(NONE), []);
  return { chosen, choose, clear };
}
