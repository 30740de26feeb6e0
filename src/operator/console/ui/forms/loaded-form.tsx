import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Versioned } from "../../api/client.ts";
import { Dialog } from "../dialog.tsx";
import { Problem } from "../loading/problem.tsx";
import { useAsyncAction } from "../loading/use-async-action.ts";
import { useIsUnmounted } from "../loading/use-is-unmounted.ts";
import type { EntryVersion } from "./conflict.tsx";

interface LoadedFormProps<T extends object> {
  /** Reads the entry that the form edits. */
  readonly read: () => Promise<Versioned<T>>;
  /** Title of the dialog that is shown if the entry cannot be read. */
  readonly title: string;
  readonly onClose: () => void;
  /** Renders the form. */
  readonly form: (entry: Versioned<T>, version: EntryVersion) => ComponentChildren;
}

/** Reads an entry, and then shows the form for it. */
export function LoadedForm<T extends object>({ read, title, onClose, form }: LoadedFormProps<T>) {
  const [loaded, setLoaded] = useState<{ readonly entry: Versioned<T>; readonly number: number } | null>(
    null,
  );
  const { error, run } = useAsyncAction();
  const isUnmounted = useIsUnmounted();
  const load = async () => {
    const entry = await read();
    if (!isUnmounted.current) setLoaded((before) => ({ entry, number: (before?.number ?? 0) + 1 }));
  };
  const start = async () => {
    await run(load);
  };
  useEffect(() => {
    void start();
  }, []);
  if (loaded === null) {
    if (error === "") return null;
    return (
      <Dialog title={title} onClose={onClose}>
        <Problem error={error} retry={start} />
      </Dialog>
    );
  }
  const { entry, number } = loaded;
  // Another key makes the form take over the values that were read again.
  return <Fragment key={number}>{form(entry, { tag: entry.tag, read, reload: load })}</Fragment>;
}
