import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { type ApiError, isEditConflict, toMessage, type Versioned } from "../api/client.ts";
import { Button } from "./button.tsx";
import { Conflict } from "./conflict.tsx";
import { type Faults, focusFirstInvalid, splitFault } from "./form-errors.ts";
import { LeaveGuard } from "./leave-guard.tsx";
import { Problem } from "./problem.tsx";
import { showToast } from "./toasts.tsx";
import { useAsyncAction } from "./use-async-action.ts";
import { useLoaded } from "./use-loaded.ts";
import { words } from "./words.ts";

/** What the fields of a form show and change. */
export interface PanelFormState<T, Draft> {
  readonly entry: T;
  readonly draft: Draft;
  readonly faults: Faults;
  /** Sets the draft; null: nothing differs from the stored values. */
  readonly change: (draft: Draft | null) => void;
}

interface PanelFormProps<T extends object, Draft extends object> {
  readonly read: (signal?: AbortSignal) => Promise<Versioned<T>>;
  readonly toDraft: (entry: T) => Draft;
  /** Sends the changes, and returns the stored values. `ifMatch` undefined: overwrites what has changed. */
  readonly save: (draft: Draft, ifMatch: string | undefined) => Promise<Versioned<T>>;
  /** Finds invalid values before they are sent. */
  readonly validate?: (draft: Draft) => Faults;
  /** Label of the field that an error names; undefined: the form has no such field. */
  readonly labelOf: (path: string, draft: Draft) => string | undefined;
  /** The unsaved input, within a sentence. */
  readonly unsaved: (draft: Draft) => string;
  readonly action: string;
  /** Message after the form was saved. */
  readonly saved: string;
  readonly fields: (state: PanelFormState<Versioned<T>, Draft>) => ComponentChildren;
}

/**
 * A form within a page that loads, edits and saves something of which there is only one, such as the settings. If another edit came
 * first, it shows both versions.
 */
export function PanelForm<T extends object, Draft extends object>(props: PanelFormProps<T, Draft>) {
  const { data, error: readError, reload, replace } = useLoaded(props.read);
  /** The input, and the stored values on which it is based; null: no change. */
  const [edit, setEdit] = useState<{ readonly draft: Draft; readonly base: Versioned<T> } | null>(null);
  const [conflict, setConflict] = useState<ApiError | null>(null);
  /** The fault that the gateway found. */
  const [named, setNamed] = useState<Faults>({});
  /** Whether the user has tried to save: from then on invalid values are shown. */
  const [tried, setTried] = useState(false);
  const { busy, error, run, onSubmit } = useAsyncAction();
  const form = useRef<HTMLFormElement>(null);
  if (data === null) return <Problem error={readError} retry={reload} />;
  const { draft, base } = edit ?? { draft: props.toDraft(data), base: data };

  const invalid = props.validate?.(draft) ?? {};
  const reject = (found: Faults): never => {
    focusFirstInvalid(form.current);
    const labels = Object.keys(found).map((path) => props.labelOf(path, draft) ?? path);
    throw new Error(words.notSavedFix(labels.join(", ")));
  };
  const discard = async () => {
    setConflict(null);
    setNamed({});
    setTried(false);
    setEdit(null);
  };
  const save = async (ifMatch: string | undefined) => {
    setConflict(null);
    setTried(true);
    if (Object.keys(invalid).length > 0) reject(invalid);
    try {
      replace(await props.save(draft, ifMatch));
    } catch (thrown) {
      if (isEditConflict(thrown)) {
        setConflict(thrown);
        return;
      }
      const found = splitFault(toMessage(thrown));
      if (found === null || props.labelOf(found.path, draft) === undefined) throw thrown;
      setNamed({ [found.path]: found.fault });
      reject({ [found.path]: found.fault });
    }
    await discard();
    showToast(props.saved);
  };
  const change = (next: Draft | null) => {
    setNamed({});
    setEdit(next === null ? null : { draft: next, base });
  };
  return (
    <form ref={form} class="settings" onSubmit={onSubmit(() => save(base.tag))} noValidate>
      <Problem error={readError} retry={reload} />
      <LeaveGuard unsaved={edit === null ? "" : props.unsaved(draft)} />
      {props.fields({ entry: base, draft, faults: tried ? { ...invalid, ...named } : named, change })}
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
