import { useEffect } from "preact/hooks";
import { NAVIGATION } from "./pages.tsx";
import { navigateTo } from "./routing.ts";
import { SearchOverlay } from "./search-overlay.tsx";
import {
  currentOverlay,
  PAGE_KEYS,
  ShortcutParser,
  setShortcutsEnabled,
  shortcutsEnabled,
} from "./shortcuts.ts";
import { useStore } from "./store.ts";
import { texts } from "./texts.ts";
import { Dialog } from "./ui/dialog.tsx";
import { CheckField } from "./ui/forms/field.tsx";
import { undoLast } from "./ui/toasts.tsx";

const FIELDS = "input, textarea, select, [contenteditable]";

/** Whether single-key shortcuts are active: not in fields, and not while a dialog is open. */
function acceptsSingleKeys(target: EventTarget | null): boolean {
  if (!shortcutsEnabled.get() || document.querySelector("dialog[open]") !== null) return false;
  return !(target instanceof Element && target.matches(FIELDS));
}

function findOnPage(): void {
  const field = document.querySelector("main input[type=search]");
  if (field instanceof HTMLInputElement) field.focus();
}

/** Overlays that a key opens on every page: the search, and the list of shortcuts. */
export function KeyboardOverlays() {
  const open = useStore(currentOverlay);
  useEffect(() => {
    const keyboard = new ShortcutParser();
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.repeat || event.defaultPrevented) return;
      const action = keyboard.handleKey(event, acceptsSingleKeys(event.target), Date.now());
      if (action === null) return;
      event.preventDefault();
      if (action.do === "go") navigateTo(action.page);
      // An open dialog blocks the search.
      if (action.do === "search" && document.querySelector("dialog[open]") === null)
        currentOverlay.set("search");
      if (action.do === "help") currentOverlay.set("help");
      if (action.do === "find") findOnPage();
      if (action.do === "undo") undoLast();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  const close = () => currentOverlay.set("none");
  useEffect(() => {
    // Close the overlay when the page changes, also by the browser's Back button.
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  if (open === "search") return <SearchOverlay onClose={close} />;
  return open === "help" ? <HelpOverlay onClose={close} /> : null;
}

/** Overlay that lists the shortcuts. */
function HelpOverlay({ onClose }: { readonly onClose: () => void }) {
  const enabled = useStore(shortcutsEnabled);
  const names = new Map<string, string>(
    NAVIGATION.flatMap(({ pages }) => pages.map(({ id, name }) => [id, name])),
  );
  const keys: readonly (readonly [string, readonly string[]])[] = [
    [texts.searchEverything, [texts.ctrlOr, "K"]],
    [texts.searchOnPage, ["/"]],
    [texts.undoLastDeletion, ["z"]],
    [texts.theseKeys, ["?"]],
    [texts.closeDialog, ["Esc"]],
    ...Object.entries(PAGE_KEYS).map(([key, page]) => [names.get(page) ?? page, ["g", key]] as const),
  ];
  return (
    <Dialog title={texts.keyboardShortcuts} onClose={onClose}>
      <div class="dialog-body stack">
        <dl class="key-list">
          {keys.map(([label, parts]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                {parts.map((part) => (
                  <kbd key={part}>{part}</kbd>
                ))}
              </dd>
            </div>
          ))}
        </dl>
        <CheckField
          label={texts.singleKeysDo}
          value={enabled}
          onChange={setShortcutsEnabled}
          hint={texts.searchShortcutHint}
        />
      </div>
    </Dialog>
  );
}
