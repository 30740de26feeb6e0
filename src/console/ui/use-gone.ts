import { useEffect, useRef } from "preact/hooks";

/** Whether the component is no longer shown, for what is done after a wait. */
export function useGone(): { readonly current: boolean } {
  const gone = useRef(false);
  useEffect(
    () => () => {
      gone.current = true;
    },
    [],
  );
  return gone;
}
