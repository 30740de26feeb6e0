import { useState } from "preact/hooks";
import { type BulkEdit, editAccounts } from "../../api/accounts.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { useHasRole } from "../../own-user.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { Confirm } from "../../ui/forms/confirm.tsx";
import type { Editing } from "../../ui/forms/editing.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { words } from "../../ui/words.ts";
import type { Selection } from "./selection.ts";
import { texts } from "./texts.ts";

interface BulkBarProps {
  readonly selection: Selection;
  readonly proxies: readonly ProxyView[];
  readonly changed: Editing<unknown>["changed"];
}

const CHANGES = {
  enable: texts.accountsEnabled,
  disable: texts.accountsDisabled,
  delete: texts.accountsDeleted,
  bind: texts.accountsBound,
} as const;

/** Actions for the selected accounts. */
export function BulkBar({ selection, proxies, changed }: BulkBarProps) {
  const bulkAction = useAsyncAction();
  const [deleting, setDeleting] = useState(false);
  const canEdit = useHasRole("operator");
  const identifiers = [...selection.chosen];
  if (identifiers.length === 0) return null;
  const edit = async (action: BulkEdit["action"], proxy?: string) => {
    const undo = await editAccounts({ action, identifiers, ...(proxy !== undefined && { proxy_id: proxy }) });
    const describeChange = action === "bind" && proxy === "" ? texts.accountsUnbound : CHANGES[action];
    await changed(describeChange(words.accountCount(identifiers.length)), undo);
    if (action === "delete") selection.clear();
  };
  const run = (action: BulkEdit["action"], proxy?: string) => void bulkAction.run(() => edit(action, proxy));
  return (
    <section class="bulk-bar panel row" aria-label={texts.chosenAccounts}>
      <strong>{texts.chosen(formatCount(identifiers.length))}</strong>
      <Button needs="operator" disabled={bulkAction.busy} onClick={() => run("enable")}>
        {texts.enable}
      </Button>
      <Button needs="operator" disabled={bulkAction.busy} onClick={() => run("disable")}>
        {texts.disable}
      </Button>
      <select
        aria-label={texts.bindToProxy}
        value=""
        disabled={bulkAction.busy || !canEdit}
        onChange={(event) => {
          const { value } = event.currentTarget;
          event.currentTarget.value = "";
          run("bind", value === "direct" ? "" : value.slice(1));
        }}
      >
        <option value="" disabled>
          {texts.bindTo}
        </option>
        <option value="direct">{texts.noProxy}</option>
        {proxies.map(({ id, name, host }) => (
          <option key={id} value={`:${id}`}>
            {name || host}
          </option>
        ))}
      </select>
      <Button kind="danger" needs="operator" disabled={bulkAction.busy} onClick={() => setDeleting(true)}>
        {words.delete}
      </Button>
      <Button kind="quiet" onClick={selection.clear}>
        {texts.clearSelection}
      </Button>
      <Problem error={bulkAction.error} />
      {deleting && (
        <Confirm
          title={texts.deleteIdentifiers(words.accountCount(identifiers.length))}
          action={texts.deleteThem}
          onClose={() => setDeleting(false)}
          run={() => edit("delete")}
        >
          <p>{texts.bulkDeletionWarning}</p>
        </Confirm>
      )}
    </section>
  );
}
