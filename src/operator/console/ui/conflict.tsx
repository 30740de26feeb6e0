import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";
import { words } from "./words.ts";

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
        {words.reload}
      </Button>
      <Button busy={busy} onClick={onOverwrite}>
        {words.overwrite}
      </Button>
    </>
  );
  return (
    <Notice kind="error" action={actions}>
      {words.nothingWasSavedBecauseHas}
    </Notice>
  );
}
