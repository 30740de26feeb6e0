import { useLayoutEffect, useState } from "preact/hooks";
import { addLeaveGuard } from "../routing.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface LeaveGuardProps {
  /** The input that would be lost, within a sentence: "1 unsaved change". Empty: nothing. */
  readonly unsaved: string;
}

/** Asks before unsaved input is lost: by navigation within the console, or by closing the tab. */
export function LeaveGuard({ unsaved }: LeaveGuardProps) {
  const [leave, setLeave] = useState<(() => void) | null>(null);
  const active = unsaved !== "";
  // A layout effect, so that the guard is active before the first paint.
  useLayoutEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    const release = addLeaveGuard((go) => setLeave(() => go));
    return () => {
      removeEventListener("beforeunload", warn);
      release();
      // Close an open question when its reason is gone.
      setLeave(null);
    };
  }, [active]);
  if (leave === null) return null;
  const stay = () => setLeave(null);
  return (
    <Dialog title="Leave without saving?" onClose={stay}>
      <div class="dialog-body">
        <p>There is {unsaved} on this page.</p>
      </div>
      <footer>
        <Button kind="primary" onClick={stay}>
          Stay
        </Button>
        <Button kind="danger" onClick={leave}>
          Leave
        </Button>
      </footer>
    </Dialog>
  );
}
