import { useState } from "preact/hooks";
import { type BulkEdit, editAccounts } from "../../api/accounts.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import type { Editing } from "../../ui/editing.tsx";
import { formatCount, formatPlural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import type { Selection } from "./selection.ts";

interface BulkBarProps {
  readonly selection: Selection;
  readonly proxies: readonly ProxyView[];
  readonly changed: Editing<unknown>["changed"];
}

const DONE = { enable: "enabled", disable: "disabled", delete: "deleted", bind: "bound" } as const;

/** Actions for the selected accounts. */
export function BulkBar({ selection, proxies, changed }: BulkBarProps) {
  const bulkAction = useAsyncAction();
  const [deleting, setDeleting] = useState(false);
  const identifiers = [...selection.chosen];
  if (identifiers.length === 0) return null;
  const edit = async (action: BulkEdit["action"], proxy?: string) => {
    const undo = await editAccounts({ action, identifiers, ...(proxy !== undefined && { proxy_id: proxy }) });
    const unbinds = action === "bind" && proxy === "";
    await changed(
      `${formatPlural(identifiers.length, "account")} ${unbinds ? "unbound" : DONE[action]}`,
      undo,
    );
    if (action === "delete") selection.clear();
  };
  const run = (action: BulkEdit["action"], proxy?: string) => void bulkAction.run(() => edit(action, proxy));
  return (
    <section class="bulk-bar panel row" aria-label="Chosen accounts">
      <strong>{formatCount(identifiers.length)} chosen</strong>
      <Button disabled={bulkAction.busy} onClick={() => run("enable")}>
        Enable
      </Button>
      <Button disabled={bulkAction.busy} onClick={() => run("disable")}>
        Disable
      </Button>
      <select
        aria-label="Bind to a proxy"
        value=""
        disabled={bulkAction.busy}
        onChange={(event) => {
          const { value } = event.currentTarget;
          event.currentTarget.value = "";
          run("bind", value === "direct" ? "" : value.slice(1));
        }}
      >
        <option value="" disabled>
          Bind to …
        </option>
        <option value="direct">no proxy</option>
        {proxies.map(({ id, name, host }) => (
          <option key={id} value={`:${id}`}>
            {name || host}
          </option>
        ))}
      </select>
      <Button kind="danger" disabled={bulkAction.busy} onClick={() => setDeleting(true)}>
        Delete
      </Button>
      <Button kind="quiet" onClick={selection.clear}>
        Choose none
      </Button>
      <Problem error={bulkAction.error} />
      {deleting && (
        <Confirm
          title={`Delete ${formatPlural(identifiers.length, "account")}?`}
          action="Delete them"
          onClose={() => setDeleting(false)}
          run={() => edit("delete")}
        >
          <p>They will no longer serve requests. The accounts at the provider stay as they are.</p>
        </Confirm>
      )}
    </section>
  );
}
