import { useEffect, useRef } from "preact/hooks";

/** Whether the component is unmounted. For code that runs after an `await`. */
export function useIsUnmounted(): { readonly current: boolean } {
  const isUnmounted = useRef(false);
  useEffect(
    () => () => {
      isUnmounted.current = true;
    },
    [],
  );
  return isUnmounted;
}
