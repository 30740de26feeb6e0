import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Notice } from "./notice.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly children: ComponentChildren;
  /** A failure is shown above the buttons; what was typed stays. */
  readonly submit: () => Promise<void>;
  readonly onClose: () => void;
  readonly wide?: boolean;
  /** More buttons, beside the action. */
  readonly extra?: ComponentChildren;
}

/** A form in a dialog that closes only when what it sends has arrived. */
export function FormDialog(props: FormDialogProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const submit = async () => {
    setBusy(true);
    setError("");
    try {
      await props.submit();
      props.onClose();
    } catch (thrown) {
      setError(messageOf(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide={props.wide ?? false}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class="dialog-body stack">{props.children}</div>
        {error !== "" && <Notice kind="error">{error}</Notice>}
        <footer>
          {props.extra}
          <Button kind="quiet" onClick={props.onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" busy={busy}>
            {props.action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
