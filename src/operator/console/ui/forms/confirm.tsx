import type { ComponentChildren } from "preact";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { Problem } from "../loading/problem.tsx";
import { useAsyncAction } from "../loading/use-async-action.ts";
import { useIsUnmounted } from "../loading/use-is-unmounted.ts";
import { words } from "../words.ts";

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Text of the button: the action itself. */
  readonly action: string;
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for confirmation before an action that cannot be undone. The dialog shows a failure. */
export function Confirm({ title, children, action, run, onClose }: ConfirmProps) {
  const confirmation = useAsyncAction();
  const isUnmounted = useIsUnmounted();
  const confirm = async () => {
    // If the user closed the dialog meanwhile, do not close the dialog that is open now.
    if ((await confirmation.run(run)) && !isUnmounted.current) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">{children}</div>
      <Problem error={confirmation.error} />
      <footer>
        <Button kind="quiet" onClick={onClose}>
          {words.cancel}
        </Button>
        <Button kind="danger" busy={confirmation.busy} onClick={confirm}>
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
