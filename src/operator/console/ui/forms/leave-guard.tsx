import { useLayoutEffect, useState } from "preact/hooks";
import { addLeaveGuard } from "../../routing.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { words } from "../words.ts";

interface LeaveGuardProps {
  /** The input that would be lost, within a sentence: "1 unsaved change". Empty: nothing. */
  readonly unsaved: string;
}

/** Asks before unsaved input is lost: by navigation within the console, or by closing the tab. */
export function LeaveGuard({ unsaved }: LeaveGuardProps) {
  const [pendingLeave, setPendingLeave] = useState<(() => void) | null>(null);
  const active = unsaved !== "";
  // A layout effect, so that the guard is active before the first paint.
  useLayoutEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    const release = addLeaveGuard((leave) => setPendingLeave(() => leave));
    return () => {
      removeEventListener("beforeunload", warn);
      release();
      // Close an open question when its reason is gone.
      setPendingLeave(null);
    };
  }, [active]);
  if (pendingLeave === null) return null;
  const cancel = () => setPendingLeave(null);
  return (
    <Dialog title={words.leaveWithoutSaving} onClose={cancel}>
      <div class="dialog-body">
        <p>{words.thereOnPage(unsaved)}</p>
      </div>
      <footer>
        <Button kind="primary" onClick={cancel}>
          {words.stay}
        </Button>
        <Button kind="danger" onClick={pendingLeave}>
          {words.leave}
        </Button>
      </footer>
    </Dialog>
  );
}
