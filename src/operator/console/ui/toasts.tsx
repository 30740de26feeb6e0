import { toMessage } from "../api/client.ts";
import type { Undo } from "../api/undo.ts";
import { createStore, useStore } from "../store.ts";
import { words } from "./words.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | null;
}

const toasts = createStore<readonly Toast[]>([]);
const SHOWN_MS = 4_000;
/** Messages with an undo button are shown longer. */
const UNDO_MS = 15_000;
let lastId = 0;

function show(text: string, undo: Toast["undo"], shownMs: number): number {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get(), { id, text, undo }]);
  setTimeout(() => dismiss(id), shownMs);
  return id;
}

const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id));

/** Shows a short success message. Errors are shown where they occur, and stay. */
export function showToast(text: string): void {
  show(text, null, SHOWN_MS);
}

/** Shows a success message with an undo button. Calls `after` when the undo is done. */
export function showUndoToast(text: string, undo: Undo, after: () => Promise<void>): void {
  const id = show(
    text,
    () => {
      dismiss(id);
      undo().then(
        () => {
          showToast(words.undone);
          return after();
        },
        (error: unknown) => show(words.notUndone(toMessage(error)), null, UNDO_MS),
      );
    },
    UNDO_MS,
  );
}

/** Undoes the last action, if possible. */
export function undoLast(): void {
  toasts
    .get()
    .findLast(({ undo }) => undo !== null)
    ?.undo?.();
}

export function Toasts() {
  const visible = useStore(toasts);
  return (
    <div class="toasts" role="status">
      {visible.map(({ id, text, undo }) => (
        <p key={id}>
          <span>{text}</span>
          {undo !== null && (
            <button type="button" onClick={undo}>
              {words.undo}
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
