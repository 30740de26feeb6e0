import { useState } from "preact/hooks";
import { importAccounts } from "../../api/accounts.ts";
import { toMessage } from "../../api/client.ts";
import { AreaField } from "../../ui/field.tsx";
import { FileButton } from "../../ui/file-button.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { formatPlural } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { Progress } from "../../ui/progress.tsx";
import { parseAccounts } from "./parse-accounts.ts";

interface BulkImportProps {
  readonly onClose: () => void;
  readonly onDone: (message: string) => Promise<void>;
}

/** Accounts per request. */
const BATCH_SIZE = 1_000;

/** Imports accounts from a pasted list or a file. Existing accounts do not change. */
export function BulkImport({ onClose, onDone }: BulkImportProps) {
  const [text, setText] = useState("");
  const { accounts, problems } = parseAccounts(text);
  /** Number of accounts sent so far; null: no import is running. */
  const [done, setDone] = useState<number | null>(null);
  const submit = async (onSucceeded: () => void) => {
    if (accounts.length === 0) throw new Error("There is no account in the list.");
    let added = 0;
    try {
      for (let start = 0; start < accounts.length; start += BATCH_SIZE) {
        setDone(start);
        added += (await importAccounts(accounts.slice(start, start + BATCH_SIZE), start > 0))
          .imported_accounts;
      }
    } catch (error) {
      const partialNote = added === 0 ? "" : `${formatPlural(added, "account")} had been added by then. `;
      throw new Error(`${partialNote}${toMessage(error)}`);
    } finally {
      setDone(null);
    }
    onSucceeded();
    const existing = accounts.length - added;
    await onDone(
      `${formatPlural(added, "account")} added${existing > 0 ? `, ${existing} were there already` : ""}`,
    );
  };
  return (
    <FormDialog
      title="Import accounts"
      action={accounts.length > 0 ? `Import ${formatPlural(accounts.length, "account")}` : "Import"}
      submit={submit}
      onClose={onClose}
      wide
      extra={<FileButton name="Choose a file" accept=".txt,.csv,.json" onText={setText} />}
    >
      <AreaField
        label="Accounts"
        value={text}
        onChange={setText}
        rows={12}
        mono
        placeholder={"one@example.com:password\n+15550100:password"}
        hint="One login:password per line, or a JSON list of objects with email or mobile, password and token."
      />
      {done !== null && <Progress label="Accounts imported" value={done} max={accounts.length} />}
      {problems.length > 0 && (
        <Notice kind="warning">
          <ul class="plain-list">
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </Notice>
      )}
    </FormDialog>
  );
}
