import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";
import { useWork } from "./use-work.ts";

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
  const { busy, error, onSubmit } = useWork();
  const submit = async () => {
    await props.submit();
    props.onClose();
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide={props.wide ?? false}>
      <form onSubmit={onSubmit(submit)}>
        <div class="dialog-body stack">{props.children}</div>
        <Problem error={error} />
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
