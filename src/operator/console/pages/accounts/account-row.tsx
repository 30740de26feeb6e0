import { useLayoutEffect, useRef } from "preact/hooks";
import type { Account } from "../../api/accounts.ts";
import { Button } from "../../ui/button.tsx";
import type { Editing } from "../../ui/forms/editing.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { AccountHealth } from "./account-health.tsx";
import { texts } from "./texts.ts";
import type { TestState } from "./use-tests.ts";

interface AccountRowProps {
  readonly account: Account;
  readonly index: number;
  /** Whether names have several lines. */
  readonly narrow: boolean;
  readonly proxy: string;
  readonly chosen: boolean;
  readonly onChoose: (on: boolean) => void;
  readonly test: TestState | undefined;
  readonly onTest: () => void;
  /** Whether the row with the details follows. */
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly editing: Editing<Account>;
  /** Called to delete the account's sessions. */
  readonly onSessions: (account: Account) => void;
  /** Called with the height of the row, in pixels, after each rendering. */
  readonly onHeight: (height: number) => void;
}

export function AccountRow(props: AccountRowProps) {
  const {
    account,
    index,
    narrow,
    proxy,
    chosen,
    onChoose,
    test,
    onTest,
    isOpen,
    onToggle,
    editing,
    onSessions,
    onHeight,
  } = props;
  const row = useRef<HTMLTableRowElement>(null);
  useLayoutEffect(() => onHeight(row.current?.offsetHeight ?? 0));
  const { identifier, name, remark, provider } = account;
  const title = name || identifier;
  const details = [name === "" ? "" : identifier, provider, remark].filter(Boolean).join(" · ");
  return (
    <tr aria-rowindex={index + 2} ref={row}>
      <td class="account-choice">
        <input
          type="checkbox"
          aria-label={texts.choose(identifier)}
          checked={chosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      </td>
      <td class="account-name">
        <strong class="cut" title={identifier}>
          {narrow ? <TruncatedText text={title} /> : title}
        </strong>
        {details !== "" && (
          <span class="muted cut" title={details}>
            {narrow ? <TruncatedText text={details} /> : details}
          </span>
        )}
      </td>
      <td class="account-health">
        <AccountHealth account={account} test={test} isOpen={isOpen} onToggle={onToggle} />
      </td>
      <td class="account-token mono muted cut">
        {account.has_token ? account.token_preview : texts.noneYet}
      </td>
      <td class="account-proxy muted cut">{proxy || texts.direct}</td>
      <td class="account-actions">
        <Button needs="operator" busy={test === "running"} label={texts.test(identifier)} onClick={onTest}>
          {words.test}
        </Button>
        <Button
          kind="quiet"
          needs="operator"
          label={texts.edit(identifier)}
          onClick={() => editing.edit(account)}
        >
          {words.edit}
        </Button>
        <Button
          kind="quiet"
          needs="owner"
          label={texts.deleteSessions(identifier)}
          title={texts.deleteSessionsHint}
          onClick={() => onSessions(account)}
        >
          {texts.sessionsTitle}
        </Button>
        <Button
          kind="quiet"
          needs="operator"
          label={texts.delete(identifier)}
          onClick={() => editing.remove(account)}
        >
          {words.delete}
        </Button>
      </td>
    </tr>
  );
}
