import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ApiError, isEditConflict, type Versioned } from "../../api/client.ts";
import { Button } from "../button.tsx";
import { LoadState } from "../loading/load-state.tsx";
import { Problem } from "../loading/problem.tsx";
import { useAsyncAction } from "../loading/use-async-action.ts";
import { useLoaded } from "../loading/use-loaded.ts";
import { showToast, showUndoToast } from "../toasts.tsx";
import { words } from "../words.ts";
import { Conflict } from "./conflict.tsx";
import { type Faults, FormErrorsContext, rejectFaults, useFormErrors } from "./form-errors.ts";
import { LeaveGuard } from "./leave-guard.tsx";

/** What the fields of a form show and change. */
export interface PanelFormState<T, Draft> {
  readonly entry: T;
  readonly draft: Draft;
  /** Sets the draft; null: nothing differs from the stored values. */
  readonly change: (draft: Draft | null) => void;
}

interface PanelFormProps<T extends object, Draft extends object> {
  readonly read: (signal?: AbortSignal) => Promise<Versioned<T>>;
  readonly toDraft: (entry: T) => Draft;
  /** Sends the changes, and returns the stored values. `ifMatch` undefined: overwrites what has changed. */
  readonly save: (draft: Draft, ifMatch: string | undefined) => Promise<Versioned<T>>;
  /** The draft that brings back the values of `entry` which `draft` changed. Absent: saving cannot be undone. */
  readonly revert?: (draft: Draft, entry: T) => Draft;
  /** Finds invalid values before they are sent. */
  readonly validate?: (draft: Draft) => Faults;
  /** The unsaved input, within a sentence. */
  readonly unsaved: (draft: Draft) => string;
  readonly action: string;
  /** Message after the form was saved. */
  readonly saved: string;
  readonly fields: (state: PanelFormState<Versioned<T>, Draft>) => ComponentChildren;
}

/**
 * A form within a page, for values that exist only once, such as the settings: loads, edits and saves them. If another edit
 * came first, it shows both versions.
 */
export function PanelForm<T extends object, Draft extends object>(props: PanelFormProps<T, Draft>) {
  const { data, error: readError, reload, replace } = useLoaded(props.read);
  /** The input, and the stored values on which it is based; null: no change. */
  const [edit, setEdit] = useState<{ readonly draft: Draft; readonly base: Versioned<T> } | null>(null);
  const [conflict, setConflict] = useState<ApiError | null>(null);
  const errors = useFormErrors();
  const { busy, error, run, onSubmit } = useAsyncAction();
  if (data === null) return <LoadState data={data} error={readError} reload={reload} />;
  const { draft, base } = edit ?? { draft: props.toDraft(data), base: data };

  const discard = async () => {
    setConflict(null);
    errors.clearAll();
    setEdit(null);
  };
  const save = async (ifMatch: string | undefined) => {
    setConflict(null);
    errors.clearAll();
    let stored: Versioned<T>;
    try {
      rejectFaults(props.validate?.(draft) ?? {});
      stored = await props.save(draft, ifMatch);
      replace(stored);
    } catch (thrown) {
      if (isEditConflict(thrown)) return setConflict(thrown);
      throw errors.showAtFields(thrown);
    }
    await discard();
    const reverted = props.revert?.(draft, base);
    if (reverted === undefined) return showToast(props.saved);
    const undo = async () => replace(await props.save(reverted, stored.tag));
    showUndoToast(props.saved, undo, async () => undefined);
  };
  const change = (next: Draft | null) => setEdit(next === null ? null : { draft: next, base });
  return (
    <form ref={errors.form} class="settings" onSubmit={onSubmit(() => save(base.tag))} noValidate>
      <Problem error={readError} retry={reload} />
      <LeaveGuard unsaved={edit === null ? "" : props.unsaved(draft)} />
      <FormErrorsContext.Provider value={errors.context}>
        {props.fields({ entry: base, draft, change })}
      </FormErrorsContext.Provider>
      {edit !== null && (
        <div class="save-bar">
          <Problem error={error} />
          {conflict !== null && (
            <Conflict
              busy={busy}
              edit={conflict.sent}
              read={props.read}
              onReload={() =>
                void run(async () => {
                  await reload();
                  await discard();
                })
              }
              onOverwrite={() => void run(() => save(undefined))}
            />
          )}
          <span class="grow">{props.unsaved(draft)}</span>
          <Button kind="quiet" onClick={() => void run(discard)}>
            {words.discard}
          </Button>
          <Button kind="primary" type="submit" needs="operator" busy={busy}>
            {props.action}
          </Button>
        </div>
      )}
    </form>
  );
}
