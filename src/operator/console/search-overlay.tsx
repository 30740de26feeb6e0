import { h, type TargetedInputEvent } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useHasRole } from "./own-user.ts";
import { NAVIGATION } from "./pages.tsx";
import { formatHref } from "./routing.ts";
import { type SearchResult, searchEverything } from "./search.ts";
import { texts } from "./texts.ts";
import { Dialog } from "./ui/dialog.tsx";

const PAUSE_MS = 150;

/** The pages that a user may open. */
const listPages = (isOwner: boolean): readonly SearchResult[] =>
  NAVIGATION.flatMap(({ title, pages }) =>
    pages
      .filter(({ ownersOnly }) => isOwner || ownersOnly !== true)
      .map(({ id, name }): SearchResult => ({ kind: "page", name, below: title, address: formatHref(id) })),
  );

/** Overlay that searches pages, accounts, keys, models and records. Usable by keyboard alone. */
export function SearchOverlay({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const isOwner = useHasRole("owner");
  const [results, setResults] = useState<readonly SearchResult[]>(() => listPages(isOwner));
  const [selected, setSelected] = useState(0);
  const [searching, setSearching] = useState(false);
  /** The user pressed Enter before the results arrived. */
  const enterPressed = useRef(false);
  const id = useId();
  useEffect(() => {
    const controller = new AbortController();
    setSearching(true);
    const timer = setTimeout(async () => {
      const next = await searchEverything(text.trim(), listPages(isOwner), controller.signal);
      if (controller.signal.aborted) return;
      setResults(next);
      setSelected(0);
      setSearching(false);
      if (enterPressed.current) open(next[0]);
      enterPressed.current = false;
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, isOwner]);

  const open = (item: SearchResult | undefined) => {
    if (item === undefined) return;
    onClose();
    location.hash = item.address;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && results.length > 0) {
      event.preventDefault();
      const next = (selected + step + results.length) % results.length;
      setSelected(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
    }
    if (event.key === "Enter") {
      event.preventDefault();
      // The displayed results may belong to the previous text.
      if (searching) enterPressed.current = true;
      else open(results[selected]);
    }
  };
  // Preact's types allow a combobox only with a `<datalist>`.
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-label": texts.searchPagesAccountsKeysModels,
    "aria-expanded": results.length > 0,
    "aria-controls": `${id}-list`,
    "aria-activedescendant": results.length > 0 ? `${id}-${selected}` : undefined,
    placeholder: texts.pagesAccountsKeysModelsRecords,
    "data-focus": "",
    value: text,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => setText(event.currentTarget.value),
    onKeyDown,
  });
  return (
    <Dialog title={texts.searchEverything} onClose={onClose}>
      <div class="dialog-body search-sheet">
        {input}
        {results.length === 0 ? (
          <p class="muted">{searching ? texts.looking : texts.nothingFound}</p>
        ) : (
          <div id={`${id}-list`} role="listbox" aria-label={texts.found} aria-busy={searching}>
            {results.map((item, index) => (
              <div
                key={item.kind + item.address}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === selected}
                onPointerMove={() => setSelected(index)}
                onPointerUp={() => open(item)}
              >
                <span class="cut">{item.name}</span>
                <span class="muted cut">
                  {texts.kinds[item.kind]}
                  {item.below !== "" && ` · ${item.below}`}
                </span>
              </div>
            ))}
          </div>
        )}
      </div>
    </Dialog>
  );
}
