import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";
import { useGone } from "./use-gone.ts";
import { useWork } from "./use-work.ts";

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
  const deed = useWork();
  const gone = useGone();
  const confirm = async () => {
    // Whoever has closed it meanwhile may have begun something else, which would be closed.
    if ((await deed.run(run)) && !gone.current) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">{children}</div>
      <Problem error={deed.error} />
      <footer>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button kind="danger" busy={deed.busy} onClick={confirm}>
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
