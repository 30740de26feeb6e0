import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { LeaveGuard } from "./leave-guard.tsx";
import { Problem } from "./problem.tsx";
import { useGone } from "./use-gone.ts";
import { useWork } from "./use-work.ts";

interface FormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly children: ComponentChildren;
  /**
   * A failure is shown above the buttons; what was typed stays. `arrived` is for a form that waits for more once what it sends has
   * arrived, such as the list behind it: nothing that was typed can be lost any more.
   */
  readonly submit: (arrived: () => void) => Promise<void>;
  readonly onClose: () => void;
  readonly wide?: boolean;
  /** More buttons, beside the action. */
  readonly extra?: ComponentChildren;
}

/** A form in a dialog that closes only when what it sends has arrived. */
export function FormDialog(props: FormDialogProps) {
  const { busy, error, onSubmit } = useWork();
  const [typed, setTyped] = useState(false);
  const [asking, setAsking] = useState(false);
  const gone = useGone();
  const submit = async () => {
    await props.submit(() => setTyped(false));
    // Whoever has closed it meanwhile may have begun something else, which would be closed.
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
