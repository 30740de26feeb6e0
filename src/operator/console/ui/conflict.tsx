import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

/** The version of the entry that a form edits. */
export interface EntryVersion {
  /** Entity tag; undefined: the entry has none. */
  readonly tag: string | undefined;
  /** Reads the entry again, and shows the form with its present values. */
  readonly reload: () => Promise<void>;
}

interface ConflictProps {
  readonly busy: boolean;
  readonly onReload: () => void;
  readonly onOverwrite: () => void;
}

/** Says that another edit came first, and asks what to do. */
export function Conflict({ busy, onReload, onOverwrite }: ConflictProps) {
  const actions = (
    <>
      <Button busy={busy} onClick={onReload}>
        Reload
      </Button>
      <Button busy={busy} onClick={onOverwrite}>
        Overwrite
      </Button>
    </>
  );
  return (
    <Notice kind="error" action={actions}>
      Nothing was saved, because this has been changed elsewhere since you opened it. Reload shows the present
      values and discards yours. Overwrite saves yours.
    </Notice>
  );
}
