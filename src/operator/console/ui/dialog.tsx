import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { words } from "./words.ts";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Absent: only the dialog's own actions close it. */
  readonly onClose?: () => void;
  readonly wide?: boolean;
}

/** Focuses the element from which a dialog was opened, or the page if the element is gone. */
function focusAgain(origin: Element | null): void {
  if (document.activeElement !== document.body) return;
  const target =
    origin?.isConnected === true && origin !== document.body ? origin : document.querySelector("main");
  if (target instanceof HTMLElement) target.focus();
}

/** A modal dialog. The browser traps the focus and restores it afterwards. */
export function Dialog({ title, children, onClose, wide }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const isUnmounted = useRef(false);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null) return;
    const origin = document.activeElement;
    dialog.showModal();
    const first = dialog.querySelector("[data-focus]");
    if (first instanceof HTMLElement) first.focus();
    return () => {
      isUnmounted.current = true;
      dialog.close();
      // The browser restores the focus, unless its element has been rendered again or is gone.
      setTimeout(() => focusAgain(origin));
    };
  }, []);
  // Browsers close a dialog on the second Escape, even if the page prevents it.
  const onClosed = () => {
    if (isUnmounted.current) return;
    onClose?.();
    // If the owner keeps the dialog (for example to ask a question first), open it again.
    setTimeout(() => {
      if (!isUnmounted.current && ref.current?.open === false) ref.current.showModal();
    });
  };
  return (
    <dialog
      ref={ref}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        // Escape only requests closing; the component decides.
        event.preventDefault();
        onClose?.();
      }}
      onClose={onClosed}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose !== undefined && (
          <button type="button" class="button quiet icon" aria-label={words.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
