import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { LeaveGuard } from "./leave-guard.tsx";
import { Problem } from "./problem.tsx";
import { useAsyncAction } from "./use-async-action.ts";
import { useIsUnmounted } from "./use-is-unmounted.ts";

interface FormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly children: ComponentChildren;
  /**
   * Submits the form. The dialog shows a failure above the buttons and keeps the input. A form that waits after its request
   * succeeded (for example for a reload) calls `onSucceeded`: from then on closing loses no input.
   */
  readonly submit: (onSucceeded: () => void) => Promise<void>;
  readonly onClose: () => void;
  readonly wide?: boolean;
  /** Additional buttons, beside the action. */
  readonly extra?: ComponentChildren;
}

/** A form in a dialog that closes only after the request succeeded. */
export function FormDialog(props: FormDialogProps) {
  const { busy, error, onSubmit } = useAsyncAction();
  const [edited, setEdited] = useState(false);
  const [confirming, setConfirming] = useState(false);
  const isUnmounted = useIsUnmounted();
  const submit = async () => {
    await props.submit(() => setEdited(false));
    // If the user closed the dialog meanwhile, do not close the dialog that is open now.
    if (!isUnmounted.current) props.onClose();
  };
  const close = () => (edited ? setConfirming(true) : props.onClose());
  return (
    <Dialog title={props.title} onClose={close} wide={props.wide ?? false}>
      <LeaveGuard unsaved={edited ? "a form that was not sent" : ""} />
      {confirming && (
        <Dialog title="Discard what you have typed?" onClose={() => setConfirming(false)}>
          <footer>
            <Button kind="primary" onClick={() => setConfirming(false)}>
              Go on
            </Button>
            <Button kind="danger" onClick={props.onClose}>
              Discard
            </Button>
          </footer>
        </Dialog>
      )}
      <form onSubmit={onSubmit(submit)} onInput={() => setEdited(true)}>
        <div class="dialog-body stack">{props.children}</div>
        <Problem error={error} />
        <footer>
          {props.extra}
          <Button kind="quiet" onClick={close}>
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
