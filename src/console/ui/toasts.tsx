import { createStore, useStore } from "../store.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
}

const toasts = createStore<readonly Toast[]>([]);
const SHOWN_MS = 4_000;
let last = 0;

/** Says in passing that something worked. What failed is said where it was tried, and stays. */
export function toast(text: string): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get(), { id, text }]);
  setTimeout(() => toasts.set(toasts.get().filter((shown) => shown.id !== id)), SHOWN_MS);
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div class="toasts" role="status">
      {shown.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
