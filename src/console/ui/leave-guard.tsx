import { useLayoutEffect, useState } from "preact/hooks";
import { guardLeaving } from "../routing.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface LeaveGuardProps {
  /** What would be lost, within a sentence: "1 unsaved change". Empty: nothing. */
  readonly unsaved: string;
}

/** Asks before what was typed is lost: on the way to another page of the console, and when the tab is closed. */
export function LeaveGuard({ unsaved }: LeaveGuardProps) {
  const [leave, setLeave] = useState<(() => void) | null>(null);
  const active = unsaved !== "";
  // Not only once it has been painted: who leaves before that is asked, too.
  useLayoutEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    const release = guardLeaving((go) => setLeave(() => go));
    return () => {
      removeEventListener("beforeunload", warn);
      release();
      // A question that is still open goes with its reason.
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
