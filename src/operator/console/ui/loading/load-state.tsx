import { useEffect, useState } from "preact/hooks";
import { words } from "../words.ts";
import { Problem } from "./problem.tsx";
import type { Loaded } from "./use-loaded.ts";

/** Most data is there sooner: a line that appears and vanishes at once would only flicker. */
const DELAY_MS = 200;

/** Says that something loads, if that takes a while. */
function Loading() {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return isShown ? (
    <p class="muted" role="status">
      {words.loading}
    </p>
  ) : null;
}

/** Says that data loads for the first time, or why it could not be loaded. */
export function LoadState({ data, error, reload }: Pick<Loaded<unknown>, "data" | "error" | "reload">) {
  return data === null && error === "" ? <Loading /> : <Problem error={error} retry={reload} />;
}
