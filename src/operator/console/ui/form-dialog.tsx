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
   * succeeded (for example for a reload) calls `arrived`: from then on closing loses no input.
   */
  readonly submit: (arrived: () => void) => Promise<void>;
  readonly onClose: () => void;
  readonly wide?: boolean;
  /** Additional buttons, beside the action. */
  readonly extra?: ComponentChildren;
}

/** A form in a dialog that closes only after the request succeeded. */
export function FormDialog(props: FormDialogProps) {
  const { busy, error, onSubmit } = useAsyncAction();
  const [typed, setTyped] = useState(false);
  const [asking, setAsking] = useState(false);
  const gone = useIsUnmounted();
  const submit = async () => {
    await props.submit(() => setTyped(false));
    // If the user closed the dialog meanwhile, do not close the dialog that is open now.
    if (!gone.current) props.onClose();
  };
  const close = () => (typed ? setAsking(true) : props.onClose());
  return (
    <Dialog title={props.title} onClose={close} wide={props.wide ?? false}>
      <LeaveGuard unsaved={typed ? "a form that was not sent" : ""} />
      {asking && (
        <Dialog title="Discard what you have typed?" onClose={() => setAsking(false)}>
          <footer>
            <Button kind="primary" onClick={() => setAsking(false)}>
              Go on
            </Button>
            <Button kind="danger" onClick={props.onClose}>
              Discard
            </Button>
          </footer>
        </Dialog>
      )}
      <form onSubmit={onSubmit(submit)} onInput={() => setTyped(true)}>
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
