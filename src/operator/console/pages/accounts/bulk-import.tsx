import { useState } from "preact/hooks";
import { importAccounts } from "../../api/accounts.ts";
import { toMessage } from "../../api/client.ts";
import { AreaField } from "../../ui/forms/field.tsx";
import { FileButton } from "../../ui/forms/file-button.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Progress } from "../../ui/progress.tsx";
import { words } from "../../ui/words.ts";
import { parseAccounts } from "./parse-accounts.ts";
import { texts } from "./texts.ts";

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
    if (accounts.length === 0) throw new Error(texts.emptyList);
    let added = 0;
    try {
      for (let start = 0; start < accounts.length; start += BATCH_SIZE) {
        setDone(start);
        added += (await importAccounts(accounts.slice(start, start + BATCH_SIZE), start > 0))
          .imported_accounts;
      }
    } catch (error) {
      const partialNote = added === 0 ? "" : texts.alreadyAdded(words.accountCount(added));
      throw new Error(`${partialNote}${toMessage(error)}`);
    } finally {
      setDone(null);
    }
    onSucceeded();
    const existing = accounts.length - added;
    await onDone(texts.added(words.accountCount(added), existing > 0 ? texts.alreadyExisted(existing) : ""));
  };
  return (
    <FormDialog
      title={texts.importAccounts}
      action={accounts.length > 0 ? texts.importCount(words.accountCount(accounts.length)) : texts.import}
      submit={submit}
      onClose={onClose}
      wide
      extra={
        <FileButton
          name={texts.chooseFile}
          accept=".txt,.csv,.json"
          onFiles={async ([file]) => file && setText(await file.text())}
        />
      }
    >
      <AreaField
        label={words.accounts}
        value={text}
        onChange={setText}
        rows={12}
        mono
        placeholder={"one@example.com:password\n+15550100:password"}
        hint={texts.importHint}
      />
      {done !== null && <Progress label={texts.accountsImported} value={done} max={accounts.length} />}
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
