import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Notice } from "./notice.tsx";

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button says: the deed itself. */
  readonly action: string;
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. A failure stays in the dialog. */
export function Confirm({ title, children, action, run, onClose }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const confirm = async () => {
    setBusy(true);
    try {
      await run();
      onClose();
    } catch (thrown) {
      setError(messageOf(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">{children}</div>
      {error !== "" && <Notice kind="error">{error}</Notice>}
      <footer>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button kind="danger" busy={busy} onClick={confirm}>
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
