import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ApiError, isEditConflict } from "../../api/client.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { Problem } from "../loading/problem.tsx";
import { useAsyncAction } from "../loading/use-async-action.ts";
import { useIsUnmounted } from "../loading/use-is-unmounted.ts";
import { words } from "../words.ts";
import { Conflict, type EntryVersion } from "./conflict.tsx";
import { FormErrorsContext, useFormErrors } from "./form-errors.ts";
import { LeaveGuard } from "./leave-guard.tsx";

/** What `submit` returns if the form stays open although nothing failed, for example because it asks a question first. */
export const STAYS_OPEN = "stays open";

export interface FormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly children: ComponentChildren;
  /**
   * Submits the form. The dialog shows a failure at the field that it names, else above the buttons, and keeps the
   * input. A form that waits after its request succeeded (for example for a reload) calls `onSucceeded`: from then on
   * closing loses no input. `ifMatch` is the entity tag that the request sends; undefined: none, because the user
   * overwrites what has changed.
   */
  readonly submit: (onSucceeded: () => void, ifMatch: string | undefined) => Promise<unknown>;
  /** The version of the edited entry. If another edit came first, the dialog asks what to do. */
  readonly version?: EntryVersion | undefined;
  readonly onClose: () => void;
  readonly wide?: boolean;
  /** Additional buttons, beside the action. */
  readonly extra?: ComponentChildren;
}

/** A form in a dialog that closes only after the request succeeded. */
export function FormDialog(props: FormDialogProps) {
  const { busy, error, run, onSubmit } = useAsyncAction();
  const { version } = props;
  const [conflict, setConflict] = useState<ApiError | null>(null);
  const [edited, setEdited] = useState(false);
  const [confirming, setConfirming] = useState(false);
  const errors = useFormErrors();
  const isUnmounted = useIsUnmounted();
  const submit = async (ifMatch: string | undefined) => {
    setConflict(null);
    errors.clearAll();
    try {
      if ((await props.submit(() => setEdited(false), ifMatch)) === STAYS_OPEN) return;
    } catch (thrown) {
      if (version !== undefined && isEditConflict(thrown)) return setConflict(thrown);
      throw errors.showAtFields(thrown);
    }
    // If the user closed the dialog meanwhile, do not close the dialog that is open now.
    if (!isUnmounted.current) props.onClose();
  };
  const close = () => (edited ? setConfirming(true) : props.onClose());
  return (
    <Dialog title={props.title} onClose={close} wide={props.wide ?? false}>
      <LeaveGuard unsaved={edited ? words.unsentForm : ""} />
      {confirming && (
        <Dialog title={words.discardChanges} onClose={() => setConfirming(false)}>
          <footer>
            <Button kind="primary" onClick={() => setConfirming(false)}>
              {words.keepEditing}
            </Button>
            <Button kind="danger" onClick={props.onClose}>
              {words.discard}
            </Button>
          </footer>
        </Dialog>
      )}
      <form ref={errors.form} onSubmit={onSubmit(() => submit(version?.tag))} onInput={() => setEdited(true)}>
        <div class="dialog-body stack">
          <FormErrorsContext.Provider value={errors.context}>{props.children}</FormErrorsContext.Provider>
        </div>
        <footer>
          {/* Here both are visible in a long form, too. */}
          <Problem error={error} />
          {conflict !== null && version !== undefined && (
            <Conflict
              busy={busy}
              edit={conflict.sent}
              read={version.read}
              onReload={() => void run(version.reload)}
              onOverwrite={() => void run(() => submit(undefined))}
            />
          )}
          {props.extra}
          <Button kind="quiet" onClick={close}>
            {words.cancel}
          </Button>
          <Button kind="primary" type="submit" busy={busy}>
            {props.action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
