import { useEffect, useState } from "preact/hooks";

/** Whether the screen is so narrow that rows of tables become blocks; the style sheet has the same width. */
export const useIsNarrow = (): boolean => useMedia("(max-width: 700px)");

/** Whether a media query matches. Updates when that changes. */
function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const listener = () => setMatches(media.matches);
    listener();
    media.addEventListener("change", listener);
    return () => media.removeEventListener("change", listener);
  }, [query]);
  return matches;
}
