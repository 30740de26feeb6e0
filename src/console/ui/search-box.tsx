import { useEffect, useState } from "preact/hooks";

interface SearchBoxProps {
  readonly label: string;
  readonly onSearch: (text: string) => void;
}

const PAUSE_MS = 200;

/** A search that follows the typing, with a short pause. */
export function SearchBox({ label, onSearch }: SearchBoxProps) {
  const [text, setText] = useState("");
  const [sent, setSent] = useState("");
  useEffect(() => {
    if (text === sent) return;
    const timer = setTimeout(() => {
      setSent(text);
      onSearch(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, sent, onSearch]);
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}
